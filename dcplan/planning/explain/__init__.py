"""Explanations: conflicts and verified remedies, binding limits, shadow prices, stranded capacity."""

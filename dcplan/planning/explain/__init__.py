"""Why: conflicts and verified remedies, binding limits and their prices, what is stranded."""

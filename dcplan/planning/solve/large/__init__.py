"""Branching on counts for models too large for one solver call."""

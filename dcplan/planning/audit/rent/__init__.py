"""Rented accelerators of a plan, recomputed: use, every payment and every limit."""

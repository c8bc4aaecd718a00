"""Rented accelerators of a bill, in rows of FOCUS."""

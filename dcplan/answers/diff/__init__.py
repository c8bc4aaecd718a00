"""The comparison of two answers."""

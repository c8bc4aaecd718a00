"""Metrics and tables of the ``plan`` verb, by subject."""

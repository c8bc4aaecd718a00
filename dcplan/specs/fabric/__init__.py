"""Metrics and tables of the ``fabric`` verb."""

"""Metrics and tables of the ``facility`` verb."""

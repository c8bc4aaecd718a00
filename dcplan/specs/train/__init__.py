"""Metrics and tables of the ``train`` verb."""

"""Metrics and tables of schedules of cost."""

"""Scenario and catalog values of serving as arguments of the serving room."""

"""Checks of the names and the consistency of a scenario."""

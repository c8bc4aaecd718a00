"""Scenario and catalog values as arguments of the physics rooms, recorded in the input log."""

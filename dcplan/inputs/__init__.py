"""Scenario and catalog values resolved into arguments of physics, each recorded in the input log."""

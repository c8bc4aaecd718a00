"""Scenario and catalog -> plain tables of every candidate with its coefficients."""

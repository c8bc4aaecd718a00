"""A finished Result -> terminal, CSV, JSON."""

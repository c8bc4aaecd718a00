"""Layouts of a run: read from text, changed until they fit, and shown."""

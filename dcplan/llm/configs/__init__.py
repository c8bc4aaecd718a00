"""Readers of the parts of a text model's ``config.json``: names, families, layers, blocks, checks."""

"""Catalog rows and models by name, and the common blocks of every result."""

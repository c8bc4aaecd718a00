"""Catalog rows by name, and the common blocks of every result."""

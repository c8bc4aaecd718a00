"""Catalog rows by name and the blocks that every result has."""

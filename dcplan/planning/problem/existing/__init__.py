"""Existing and on-order hardware: its place, its time in service, and its disposal."""

"""Flags of ``dcplan fabric`` with their ranges."""

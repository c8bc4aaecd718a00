"""The ``sweep`` verb."""

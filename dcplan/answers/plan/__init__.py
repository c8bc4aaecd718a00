"""The ``plan`` verb."""

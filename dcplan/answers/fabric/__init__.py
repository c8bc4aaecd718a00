"""The ``fabric`` verb."""

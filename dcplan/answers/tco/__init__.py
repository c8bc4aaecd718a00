"""The ``tco`` verb."""

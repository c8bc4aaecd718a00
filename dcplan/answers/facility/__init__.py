"""The ``facility`` verb."""

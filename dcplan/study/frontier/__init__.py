"""The ``frontier`` verb."""

"""The ``check`` verb."""

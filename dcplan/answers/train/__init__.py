"""The ``train`` verb."""

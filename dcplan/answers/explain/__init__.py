"""The ``explain`` verb on a scenario."""

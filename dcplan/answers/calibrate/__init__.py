"""The ``calibrate`` verb."""

"""The ``validate`` verb: measured runs and published figures."""

"""Metrics and tables of ``validate`` and ``calibrate``."""

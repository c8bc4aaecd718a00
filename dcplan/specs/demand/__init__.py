"""Metrics and tables of ``dcplan demand``."""

"""Declarations of ``dcplan tco``: metrics and tables."""

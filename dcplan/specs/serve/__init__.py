"""Declarations of ``dcplan serve``: metrics and tables."""

"""Reasons why no plan exists, found before the solver runs."""

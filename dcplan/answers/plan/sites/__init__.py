"""Candidate sites of a plan, compared."""

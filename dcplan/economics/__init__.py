"""Owned and rented cost, residual values, one cash-flow builder. Pure functions on USD."""

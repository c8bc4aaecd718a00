"""Sensitivity of owning against renting: tornados, switching values and Monte Carlo simulation."""

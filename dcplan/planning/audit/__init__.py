"""Recompute a plan in plain Python, from the catalog, without the optimizer.

Constraints, money, energy.
"""

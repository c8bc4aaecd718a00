"""Recompute a plan in plain Python, from the catalog, without the optimizer: constraints, money,
energy.
"""

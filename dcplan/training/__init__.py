"""A model on accelerators.

Architecture, memory, step time, layout search. Pure functions on arrays.
"""

"""A model on accelerators: architecture, memory, step time, layout search. Pure functions on
arrays.
"""

"""Training of a model on accelerators: memory, step time, layout search. Pure functions on arrays."""

"""The audit: constraints, cost and energy of a plan, recomputed without the solver."""

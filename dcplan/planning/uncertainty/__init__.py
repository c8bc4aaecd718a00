"""A plan in sampled futures, and one plan for several variants."""

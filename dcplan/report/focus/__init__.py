"""A plan in the FinOps Foundation's format for cost and usage (FOCUS)."""

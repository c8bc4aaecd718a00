"""Books of a plan: halls by quarter, purchases and running costs."""

"""Monte Carlo simulation of a plan, and one plan for several variants."""

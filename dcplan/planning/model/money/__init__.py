"""Money of a plan: capital cost, running cost, present cost and budgets, in M USD."""

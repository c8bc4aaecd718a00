"""``dcplan serve``: request, names, layouts, latency, fleet, cost and tables."""

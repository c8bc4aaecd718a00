"""Rates of the layouts of a service within its latency limits."""

"""Queues of a replica: event loop, latency percentiles in closed form, prefix cache."""

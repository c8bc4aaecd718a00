"""Serving: time of decode and prefill, cache memory, steady states, queues and power."""

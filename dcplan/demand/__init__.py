"""Demand over time: periods of the week, and queues of jobs."""

"""Demand over time: periods of the week, and jobs that wait for a pool of accelerators."""

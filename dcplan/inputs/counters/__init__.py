"""Samples of counters of accelerators, and the jobs that held them."""

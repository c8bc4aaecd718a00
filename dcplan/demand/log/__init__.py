"""Recorded jobs: how long they waited and why, replay on other capacities, and sizes from them."""

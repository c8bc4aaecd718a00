"""Clusters of a run by size: the smallest within limits, smaller ones, and what no size meets."""

"""Computed services: loads by hour, users by region, replicas on every system."""

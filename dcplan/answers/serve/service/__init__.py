"""States, rates and replicas of a service."""

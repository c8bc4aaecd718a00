"""Work of a plan: its jobs, demands, services and queues, computed again."""

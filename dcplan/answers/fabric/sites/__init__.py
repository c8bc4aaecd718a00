"""Links between two sites."""

"""Jobs and demands, and the places where they may run."""

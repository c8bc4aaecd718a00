"""Jobs, demands and where they may run."""

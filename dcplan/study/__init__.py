"""Studies of many solves: sweeps, frontiers, sensitivity, regression tests."""

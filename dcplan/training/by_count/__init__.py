"""The best layout at each of many accelerator counts."""

"""A planned year by hour."""

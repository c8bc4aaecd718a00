"""Power sources of a hall by hour."""

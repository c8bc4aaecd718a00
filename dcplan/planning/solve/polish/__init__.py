"""Last step of a search: dates and amounts of the purchases of its best plan."""

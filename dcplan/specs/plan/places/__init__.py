"""Tables of the sites, halls and networks of a plan."""

"""Branch and bound of our own: the tree of large programs of halls, and bounds that what-ifs take over."""

"""Network topologies: switches and links."""

"""Fabric options of halls: designs, costs per port, and the speed of their links."""

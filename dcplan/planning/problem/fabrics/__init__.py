"""Fabric options of halls: designs, costs per port, steps of switches, and the speed of links."""

"""Names of the kinds of networks."""

TREES = ("rail-optimized", "fat-tree", "rail-only", "collapsed-pair", "linked-pair")
ALONE, SCHEDULED, DRAGONFLY = "rail-only", "scheduled", "dragonfly"
PLANNED = ("rail-optimized", "fat-tree", ALONE, SCHEDULED, DRAGONFLY)
"""Topologies that a plan may choose. A torus is the own network of a system, not a fabric."""
UNITED = ("rail-optimized", "fat-tree")
"""Trees with complete leaf switches for each scalable unit."""
CLOS = (*UNITED, ALONE)
"""Trees whose tiers have leaves, spines and cores."""


def united(topology: str, tiers: int) -> bool:
    """Return whether scalable units have complete leaf switches: not on a single switch."""
    return topology in UNITED and tiers > 1


KINDS = (*TREES, "scheduled", "rail-scheduled", "dragonfly", "torus")

"""Names of the kinds of networks."""

TREES = ("rail-optimized", "fat-tree", "rail-only", "collapsed-pair", "linked-pair")
KINDS = (*TREES, "scheduled", "rail-scheduled", "dragonfly", "torus")

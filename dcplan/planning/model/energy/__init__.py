"""Energy of sites: contracts for power through the grid."""

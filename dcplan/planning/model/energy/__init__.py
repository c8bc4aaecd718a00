"""Energy of sites: batteries, and contracts for power through the grid."""

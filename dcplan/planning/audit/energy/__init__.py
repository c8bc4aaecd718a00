"""Energy of sites, recomputed: batteries, contracts for power, carbon price, limits."""

"""Climate, cooling, PUE and WUE, power chain, racks, carbon. Pure functions on counts, kW and MW."""

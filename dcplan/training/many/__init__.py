"""Layout searches of one job on many accelerators, fabrics and counts at once."""

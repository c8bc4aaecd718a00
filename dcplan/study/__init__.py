"""Many answers: sweeps, frontiers, sensitivity. Empty until its issue (what-if at scale)."""

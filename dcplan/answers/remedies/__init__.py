"""Changes of a scenario that make an infeasible plan feasible, each tested with its audit."""

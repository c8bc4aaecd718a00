"""The planner: planning problem -> model -> solve -> plan -> audit -> explanation."""

"""The mathematical program in Pyomo, one file per topic."""

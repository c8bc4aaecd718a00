"""The mathematical program in Pyomo; one file per topic, each readable as the maths it states."""

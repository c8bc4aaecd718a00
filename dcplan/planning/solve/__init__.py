"""HiGHS behind one door: compile once, solve, bound; several searches at once."""

"""HiGHS behind one door: compile once, solve, bound, elastic remedies."""

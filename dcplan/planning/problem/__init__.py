"""The planning problem: tables of every candidate with its coefficients."""

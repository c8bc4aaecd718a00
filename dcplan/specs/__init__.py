"""Declarations that the whole program reads: metrics, tables with their columns, requests.

One module a verb holds nothing but declarations; :mod:`dcplan.specs.registry` lists them all.
Nothing here computes, and nothing here imports numpy, pandas, pydantic, Pyomo or the solver.
"""

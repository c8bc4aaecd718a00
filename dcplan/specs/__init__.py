"""Declarations for the whole program: metrics, tables with their columns, requests.

Each verb has one module of declarations; :mod:`dcplan.specs.registry` lists them all. Nothing
here computes, and nothing here imports numpy, pandas, pydantic, Pyomo or the solver.
"""

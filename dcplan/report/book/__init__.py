"""The Excel workbook of a plan.

The decisions are frozen; everything that depends on them is a live formula.
"""

"""The Excel workbook of a plan.

Decisions frozen, everything that follows from them a live formula.
"""

"""The Excel workbook of a plan: decisions frozen, everything that follows from them a live
formula.
"""

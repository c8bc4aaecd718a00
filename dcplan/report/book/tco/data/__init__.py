"""Data of the workbook of a comparison: what an answer keeps so that its formulas can be written."""

"""The workbook of an answer without formulas of its own: its tables as sheets."""

"""Facts and formulas of a plan that its workbook is computed from."""

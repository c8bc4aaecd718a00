"""Facts and formulas of a plan for its workbook."""

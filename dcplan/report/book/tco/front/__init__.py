"""Pages of a comparison's workbook that readers open first: cover, summary, dictionary."""

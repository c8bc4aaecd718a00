"""Jobs in a CSV: its columns, the runs that they tell of, and the neutral CSV that is written."""

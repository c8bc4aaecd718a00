"""Equipment schedules of a hall."""

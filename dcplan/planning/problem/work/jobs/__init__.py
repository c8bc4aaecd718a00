"""Run options of jobs: paces, stops, durations, and the choice among them."""

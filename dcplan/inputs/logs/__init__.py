"""Logs of jobs from Slurm, Kueue and CSV files, as the neutral table of recorded jobs."""

"""Published lengths of whole runs against days with and without the course of each run."""

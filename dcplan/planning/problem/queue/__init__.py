"""Classes of jobs that wait in a queue, as demands of a plan."""

"""Readers of logs of incidents: failures of nodes, with the times of detection and repair."""

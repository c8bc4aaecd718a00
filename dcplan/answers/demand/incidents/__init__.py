"""Logs of failures of nodes as an answer of ``dcplan demand``."""

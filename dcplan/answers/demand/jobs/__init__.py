"""Logs of jobs as an answer of ``dcplan demand``."""

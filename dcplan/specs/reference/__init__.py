"""Metrics and tables of the verbs that answer from the catalogs and the machine."""

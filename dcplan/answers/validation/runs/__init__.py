"""Rows of measured training runs, and their comparison with predictions."""

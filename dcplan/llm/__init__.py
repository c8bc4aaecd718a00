"""A language model: configuration, architecture, operations, kernel times.

Shared by training and serving.
"""

"""Language models: configuration, architecture, operations, kernel times.

Training and serving share them.
"""

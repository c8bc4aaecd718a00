"""Financing in workbooks: the three statements of any side, and the financing pages of a plan."""

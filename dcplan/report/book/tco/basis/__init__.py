"""Rows that all sheets of a comparison read: months, discount factors, value left of a purchase."""

"""Meaning of fields, metrics, columns and codes; the catalog, schema and doctor verbs."""

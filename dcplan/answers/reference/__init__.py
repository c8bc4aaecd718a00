"""What names mean: fields, metrics, columns and codes; the catalog, schema and doctor verbs."""

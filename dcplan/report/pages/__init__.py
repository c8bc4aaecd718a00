"""Documentation pages generated from the code and the catalogs."""

"""Search of halls, fabrics and sites before racks and runs, for models of more than 1,000 columns."""

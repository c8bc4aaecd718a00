"""Power chain of a hall from catalog values."""

"""Lines of a bill of materials, and ancillary equipment."""

"""One plan for several variants with common first decisions."""

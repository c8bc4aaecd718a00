"""Power chain of a hall: blocks, losses, ratings."""

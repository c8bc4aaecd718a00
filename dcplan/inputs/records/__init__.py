"""What all readers of recorded data share."""

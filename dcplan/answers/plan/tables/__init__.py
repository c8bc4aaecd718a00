"""Tables of a plan, one file per subject."""

"""Tables of a plan, one file a subject."""

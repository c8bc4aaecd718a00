"""The ``import`` verb, one file a kind."""

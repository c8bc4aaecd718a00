"""Parts that a request names, their ports, and what does not fit together."""

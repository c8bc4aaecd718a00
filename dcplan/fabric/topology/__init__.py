"""Networks by their switches and links."""

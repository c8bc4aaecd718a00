"""Vision encoders: their readers, next to a language model, and alone."""

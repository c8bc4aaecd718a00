"""The HTML report: one self-contained page, read without JavaScript, printed, in light and dark."""

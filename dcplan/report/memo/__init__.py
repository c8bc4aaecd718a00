"""Decision memo of a plan: one page, as Markdown and as HTML."""

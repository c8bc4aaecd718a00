"""Results as text for people: the terminal, Markdown, and how a table is shown."""

"""The command line: one file per verb; only typer and the standard library at module level."""

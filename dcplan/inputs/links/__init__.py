"""Links between halls and sites: catalog rows as arguments of their physics."""

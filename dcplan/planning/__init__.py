"""The optimizer: menu -> model -> solve -> plan -> audit -> explain."""

"""Comparisons of cooling options of a hall: new halls, and air halls that take liquid-cooled racks."""

"""On-site power by hour: units and outages, cuts of the grid, dispatch, sizes. Pure functions on MW and MWh."""

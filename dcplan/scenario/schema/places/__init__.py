"""Places of a scenario: sites with their halls, energy of sites, and links between halls."""

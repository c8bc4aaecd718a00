"""Network layout on the floor: racks, cable lengths, cable schedule."""

"""Scale-out networks: topology sizing, bill of materials, collectives. Pure functions on numbers."""

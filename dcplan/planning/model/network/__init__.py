"""Networks in the model: fabrics of halls, integer switches, and links between halls."""

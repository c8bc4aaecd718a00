"""PUE and WUE of cooling options at a place, from catalog values."""

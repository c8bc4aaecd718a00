"""What can be bought and used: schema, loader, overlays, provenance."""

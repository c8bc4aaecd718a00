"""Devices of a network for inventories."""

"""Transceivers and cables of a network: parts of the catalog, what fits a link, and the choice."""

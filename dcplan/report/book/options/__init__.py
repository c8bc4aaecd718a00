"""Workbook of ``tco`` without a fleet: sourcing options, each with its own sheets."""

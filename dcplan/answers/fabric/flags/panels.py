"""Panels of the flags in the help, choices, and ranges of counts."""

from __future__ import annotations

MOST, MOST_PORTS = 10_000_000, 100_000
MEDIA = ("family", "reach", "aoc", "lpo", "lro", "cpo")
LEAF_AT = ("unit", "rack", "center")
BALANCING = ("ecmp", "qp-scaling", "adaptive", "spray", "scheduled")
SIZE, SHAPE, PARTS, FLOOR, MORE = "Size", "Shape", "Parts", "Floor", "Questions"

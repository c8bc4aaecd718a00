"""The points of a sweep in their order of solving."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dcplan.scenario.axes import Axis
from dcplan.scenario.load import Question
from dcplan.study.point import Point
from dcplan.study.sweep.points import Values


@dataclass
class Plan:
    """The points of a sweep with their keys, in chains, and what is known of them."""

    question: Question
    axes: list[Axis]
    values: list[Values]
    base: Point
    bounds: bool
    lines: list[list[Point]]
    notes: list[str] = field(default_factory=list)
    """What was asked for and left out."""
    known: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    seconds: dict[int, float] = field(default_factory=dict)

    @property
    def points(self) -> dict[int, Point]:
        """Every point by its index."""
        return {p.index: p for line in self.lines for p in line}

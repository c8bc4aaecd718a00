"""The points of a sweep in their order of solving."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dcplan.scenario.axes import Axis
from dcplan.scenario.load import Question
from dcplan.study.point import Point
from dcplan.study.sweep.points import Values
from dcplan.study.sweep.request import SweepRequest


@dataclass
class Layout:
    """The points of a sweep with their keys, in chains, and what is known of them."""

    request: SweepRequest
    question: Question
    axes: list[Axis]
    values: list[Values]
    base: Point
    lines: list[list[Point]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What was asked for and left out."""
    known: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    seconds: dict[int, float] = field(default_factory=dict)

    @property
    def points(self) -> dict[int, Point]:
        """Every point by its index."""
        return {p.index: p for line in self.lines for p in line}

    @property
    def bounds(self) -> bool:
        """Whether each input is moved alone between its bounds."""
        return self.request.bounds and self.request.sample is None

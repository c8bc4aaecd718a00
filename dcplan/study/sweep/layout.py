"""The points of a sweep in the order of their solves."""

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
    """The points of a sweep with their keys, in chains, and their known documents."""

    request: SweepRequest
    question: Question
    axes: list[Axis]
    values: list[Values]
    base: Point
    screen: bool = False
    """Whether points are screened, and only those that are shown first are proved."""
    lines: list[list[Point]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Notes on requested inputs that are left out."""
    known: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    seconds: dict[int, float] = field(default_factory=dict)
    proved: set[int] = field(default_factory=set)
    """Points of a screened sweep that were solved again to the requested gap."""
    unproved: set[int] = field(default_factory=set)
    """Points of a screened sweep whose proof is missing."""

    @property
    def points(self) -> dict[int, Point]:
        """Every point by its index."""
        return {p.index: p for line in self.lines for p in line}

    @property
    def own_lines(self) -> list[list[Point]]:
        """The chains of this call's part."""
        return [line for n, line in enumerate(self.lines) if self.request.shard.has(n)]

    @property
    def of_others(self) -> set[int]:
        """Points that other parts solve."""
        return self.points.keys() - {p.index for line in self.own_lines for p in line}

    @property
    def proves(self) -> bool:
        """Whether this call proves the points that are shown first, after all are screened."""
        return self.screen and self.request.shard.of == 1

    @property
    def bounds(self) -> bool:
        """Whether one input at a time moves between its bounds."""
        return self.request.bounds and self.request.sample is None

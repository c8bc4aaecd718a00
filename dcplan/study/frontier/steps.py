"""The steps of a frontier: its two ends, and sequences of points between them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dcplan.study.digest import key_of
from dcplan.study.frontier.point import Step, complete, solve_step
from dcplan.study.lines import Runner

LINE = 7
"""Points per sequence; sequences run in parallel if the engine has free workers."""
ENDS_SHARE = 0.5
"""Share of the time limit for the two ends."""
FIRST, AMONG, LAST = -3, -2, -1
"""Indices of the ends: lowest x, the best y among such plans, lowest y."""
UNKEYED = ("key", "ref")
"""Fields of a step that its key leaves out; the digest of its inputs covers them."""
Document = Mapping[str, Any]


@dataclass
class Steps:
    """The points of a frontier: their keys, their store and their known documents."""

    asked: Step
    """Common fields of all steps; its time limit is that of all steps together."""
    runner: Runner
    screen: bool = False
    """Whether points between the ends are screened."""
    on_known: Callable[[int], None] | None = None
    """Called with the number of known points between the ends."""
    known: dict[int, Document] = field(default_factory=dict)

    def step(self, index: int, goal: str, before: str, share: float, **more: Any) -> Step:
        """Return a step; its key covers the inputs, its goal, and the steps before it."""
        step = replace(
            self.asked,
            index=index,
            goal=goal,
            time_limit_s=max(share * self.asked.time_limit_s, 1.0),
            **more,
        )
        words = {k: v for k, v in vars(step).items() if k not in UNKEYED}
        return replace(step, key=key_of({"frontier": words, "before": before}))

    def ends(self) -> tuple[Step, Step, Step]:
        """Return the steps for lowest x, for the best y among such plans, and for lowest y."""
        first = self.step(FIRST, "x", "", ENDS_SHARE / 3)
        among = self.step(AMONG, "among", first.key, ENDS_SHARE / 3, screen=self.screen)
        return first, among, self.step(LAST, "y", among.key, ENDS_SHARE / 3)

    def lines(self, before: str, far: float, near: float, points: int) -> list[list[Step]]:
        """Return the points after the first end, each sequence over its part of the range.

        The first point of a sequence starts from the plan with the lowest x. The last point of the
        last sequence is the other end, which is proved.
        """
        count, lines = points - 1, []
        for first in range(0, count, LINE):
            size = min(LINE, count - first)
            ends = [far + (near - far) * n / count for n in (first, first + size)]
            line, key = list[Step](), before
            for i in range(size):
                line.append(
                    self.step(
                        first + i,
                        "limited",
                        key,
                        (1.0 - ENDS_SHARE) / count,
                        from_y=ends[0],
                        to_y=ends[1],
                        left=size - i,
                        screen=self.screen and first + i < count - 1,
                    )
                )
                key = line[-1].key
            lines.append(line)
        return lines

    def run(self, lines: Sequence[Sequence[Step]], start: Document | None) -> None:
        """Read the stored points and solve the others."""
        for step in itertools.chain.from_iterable(lines):
            found = self.runner.store.get(step.key)
            if found is not None and complete(found):
                self.known[step.index] = found
        self.runner.run(lines, start, solve_step, self.known, self._ended)

    def _ended(self, index: int, document: Document, seconds: float) -> None:
        if self.on_known and index >= 0:
            self.on_known(sum(i >= 0 for i in self.known))

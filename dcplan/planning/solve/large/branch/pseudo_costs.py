"""Pseudo-costs: what rounding a column down or up adds to the objective, per unit, as seen so far.

A column is chosen by the product of both (Achterberg, Koch and Martin 2005, Branching rules revisited,
Operations Research Letters 33(1)). What one program learns starts the next with the weight of one
observation, by the key of the column.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from dcplan.planning.keys import Key

LEAST_GAIN = 1e-6
"""Smallest gain of a side, so that one side without any does not hide the other."""


@dataclass
class PseudoCosts:
    """Sum and number of gains per unit, by column and side (True for up)."""

    seen: dict[tuple[Key, bool], tuple[float, float]] = field(
        default_factory=lambda: defaultdict(lambda: (0.0, 0.0))
    )

    def carried(self) -> PseudoCosts:
        """Return the means, each with the weight of one observation."""
        found = PseudoCosts()
        for at, (total, count) in self.seen.items():
            found.seen[at] = total / count, 1.0
        return found

    def learn(self, key: Key, gain: float, distance: float, *, up: bool) -> None:
        """Note that the objective rose by ``gain`` while a column moved by ``distance``."""
        total, count = self.seen[key, up]
        self.seen[key, up] = total + max(gain, 0.0) / distance, count + 1.0

    def is_known(self, key: Key) -> bool:
        """Return whether both sides of a column have gains."""
        return (key, False) in self.seen and (key, True) in self.seen

    def gains(self, key: Key, value: float) -> tuple[float, float]:
        """Return the expected gains of rounding a value down and up.

        Examples
        --------
        >>> costs, key = PseudoCosts(), Key("x")
        >>> costs.learn(key, 1.0, 0.5, up=False)
        >>> costs.learn(key, 3.0, 0.5, up=True)
        >>> costs.gains(key, 2.25)
        (0.5, 4.5)
        """
        part = value % 1.0
        return self._each(key, up=False) * part, self._each(key, up=True) * (1.0 - part)

    def score(self, key: Key, value: float) -> float:
        """Return the product of both gains."""
        down, up = self.gains(key, value)
        return max(down, LEAST_GAIN) * max(up, LEAST_GAIN)

    def ranked(self, values: Mapping[Key, float]) -> list[Key]:
        """Return columns by their scores, the best first."""
        return sorted(values, key=lambda key: -self.score(key, values[key]))

    def _each(self, key: Key, *, up: bool) -> float:
        """Return the mean gain per unit of a side; of all columns where it is unknown."""
        if (key, up) in self.seen:
            total, count = self.seen[key, up]
        else:
            known = [x for (_, side), x in self.seen.items() if side == up]
            total, count = sum(t for t, _ in known), sum(c for _, c in known)
        return total / count if count else 1.0

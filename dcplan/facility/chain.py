"""Efficiency of a power chain by load, stage by stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Stage:
    """One converter: losses relative to its rating, constant, linear and quadratic in the load."""

    name: str
    fixed: float
    linear: float
    square: float

    def efficiency(self, load: float) -> float:
        r"""Return output divided by input: :math:`\eta = x / (x + a_0 + a_1 x + a_2 x^2)`.

        Parameters
        ----------
        load : float
            Output over rating, above 0. [-]

        Examples
        --------
        >>> round(Stage("ups", 0.01, 0.0, 0.025).efficiency(0.5), 4)
        0.9685
        """
        return load / (load + self.fixed + self.linear * load + self.square * load * load)


def through(stages: Sequence[Stage], loads: Sequence[float]) -> float:
    """Return the efficiency of stages in series, each at its own load.

    Examples
    --------
    >>> ups, strip = Stage("ups", 0.01, 0.0, 0.025), Stage("strip", 0.0, 0.01, 0.0)
    >>> round(through([ups, strip], [0.5, 0.5]), 4)
    0.9589
    """
    found = 1.0
    for stage, load in zip(stages, loads, strict=True):
        found *= stage.efficiency(load)
    return found

"""Power blocks (UPS and generators) under a redundancy rule, and efficiency of a chain by load."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

RULES: dict[str, tuple[float, int]] = {
    "n": (1.0, 0),
    "n+1": (1.0, 1),
    "2n": (2.0, 0),
    "4n/3": (4.0 / 3.0, 0),
    "3n/2": (1.5, 0),
}
"""Redundancy -> (installed over required, spare blocks): arithmetic of the topology."""
TWO_SIDES = "2n"


def blocks_needed(load_mw: float, block_mw: float, redundancy: str) -> int:
    """Return the number of blocks for a load.

    ``b = max(ceil(factor x load / B) + spare, ceil(load / B) + 1)``.

    The second term keeps the redundancy with few blocks: with any rule except N, one block
    may fail. Under 2N each of two equal sides carries the full load, so that ``b = 2 ceil(load
    / B)``.

    Parameters
    ----------
    load_mw : float
        Peak load on the blocks, not negative. [MW]
    block_mw : float
        Rating of one block, above 0. [MW]
    redundancy : str
        A key of :data:`RULES`.

    Examples
    --------
    >>> blocks_needed(9.0, 3.0, "n"), blocks_needed(9.0, 3.0, "n+1"), blocks_needed(9.0, 3.0, "2n")
    (3, 4, 6)
    >>> blocks_needed(9.0, 3.0, "4n/3"), blocks_needed(0.0, 3.0, "n+1"), blocks_needed(10.0, 3.0, "2n")
    (4, 0, 8)
    """
    if load_mw <= 0:
        return 0
    factor, spare = RULES[redundancy]
    if redundancy == TWO_SIDES:
        return 2 * math.ceil(load_mw / block_mw - 1e-9)
    carried = math.ceil(factor * load_mw / block_mw - 1e-9) + spare
    if redundancy == "n":
        return carried
    return max(carried, math.ceil(load_mw / block_mw - 1e-9) + 1)


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

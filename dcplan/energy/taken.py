"""Energy that a steady load takes from plants whose output the weather sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
SEARCH_THRESHOLDS = 24
"""Thresholds of output over load whose limits are written into a plan, for each mix of plants."""
SEARCH_MIXES = ((1.0, 0.0), (3.0, 1.0), (1.0, 1.0), (1.0, 3.0), (0.0, 1.0))
"""Shares of two plants in the mixes whose limits are written into a plan."""


@dataclass(frozen=True)
class Cut:
    """An upper limit of the taken energy, linear in the power of each plant and in the load.

    taken <= sum of ``plant_h`` x MW of the plant + ``load_h`` x MW of the load.
    """

    plant_h: tuple[float, ...]
    load_h: float


def taken_mw(outputs_mw: Array, load_mw: float | Array) -> Array:
    r"""Return what a load takes from each plant in each hour, the first plant first.

    .. math:: g_{oh} = \min\bigl(P_{oh},\; L_h - \textstyle\sum_{o' < o} g_{o'h}\bigr)

    Parameters
    ----------
    outputs_mw : array, shape (plants, hours)
        Power that each plant can give in each hour, not negative. [MW]
    load_mw : float or array, shape (hours,)
        Load of every hour, or of each, not negative. [MW]

    Examples
    --------
    A load of 5 MW takes 3 + 2 MW of two plants in the first hour, and 1 + 4 MW in the second.

    >>> taken_mw(np.array([[3.0, 1.0], [4.0, 6.0]]), 5.0).tolist()
    [[3.0, 1.0], [2.0, 4.0]]
    """
    together = np.minimum(np.cumsum(outputs_mw, axis=0), load_mw)
    return np.asarray(np.diff(together, axis=0, prepend=0.0))


def cuts(shapes: Array) -> tuple[Cut, ...]:
    r"""Return upper limits of the energy that a steady load takes from plants in some hours.

    For every set A of hours,

    .. math:: \sum_h \min\Bigl(L, \sum_o P_o f_{oh}\Bigr)
              \le \sum_o P_o \sum_{h \notin A} f_{oh} + |A|\, L

    and the set of all hours whose output is above the load gives equality. The sets are the hours
    with the highest output of a mix of the plants: none, all, and some between.

    Parameters
    ----------
    shapes : array, shape (plants, hours)
        Capacity factors f, from 0 to 1, of at least one plant. [-]

    Examples
    --------
    Four hours of one plant: with 10 MW for a load of 4 MW, 4 + 4 + 2 + 0 MWh are the least limit.

    >>> found = cuts(np.array([[1.0, 0.5, 0.2, 0.0]]))
    >>> round(min(c.plant_h[0] * 10.0 + c.load_h * 4.0 for c in found), 9)
    10.0
    """
    found: dict[Cut, None] = {}
    for mix in _mixes(len(shapes)):
        output = mix @ shapes
        order = np.argsort(-output, kind="stable")
        left = np.cumsum(shapes[:, order][:, ::-1], axis=1)[:, ::-1]
        left = np.concatenate([left, np.zeros((len(shapes), 1))], axis=1)
        hours = shapes.shape[1]
        between = SEARCH_THRESHOLDS if np.ptp(output) > 0.0 else 1  # of a flat output, none and all
        steps = np.unique(np.round(np.linspace(0.0, hours, between + 1)).astype(int))
        for capped in steps.tolist():
            found[Cut(tuple(left[:, capped].tolist()), float(capped))] = None
    return tuple(found)


def _mixes(plants: int) -> Sequence[Array]:
    """Return shares of the plants: each alone, equal shares, and for two plants those of a list."""
    if plants == 2:
        return [np.array(mix) for mix in SEARCH_MIXES]
    alone = list(np.eye(plants))
    return alone if plants == 1 else [*alone, np.ones(plants)]

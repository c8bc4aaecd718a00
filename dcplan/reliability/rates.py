"""How often a job stops: counts of parts times their rates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

DAYS_PER_YEAR = 365.0
"""The catalog's rates are stops in 365 days, as their sources count them; not the calendar's year
of `units`."""


@dataclass(frozen=True)
class Rate:
    """Job stops a year of one part, with the bounds that its source supports."""

    id: str
    role: str
    per: str
    value: float
    low: float
    high: float
    replaced_frac: float = 0.0
    """Share after which a node leaves the job until it is repaired."""


@dataclass(frozen=True)
class Stops:
    """Stops of a job a day: in all, by part, and how many of them take a node out."""

    per_day: float
    low_per_day: float
    high_per_day: float
    replaced_per_day: float
    by_part: tuple[tuple[str, float, float], ...]
    """Id of the rate, count of parts, stops a day; most frequent first."""

    @property
    def mttf_h(self) -> float:
        """Mean time between stops. [h]"""
        return 24.0 / self.per_day if self.per_day > 0 else math.inf


def job_stops(rates: Sequence[Rate], counts: Mapping[str, float]) -> Stops:
    r"""Stops of a job that needs every part it holds.

    .. math:: \lambda = \sum_c n_c\, r_c / 365

    Bounds of the parts are taken as independent: the distance to each bound adds in squares.

    Parameters
    ----------
    rates : sequence of Rate
        One for each kind of part.
    counts : mapping
        Parts in the job by what the rates count (``accelerator``, ``memory_gb``, ``nic``, ``link``,
        ...); a missing one is not there.

    References
    ----------
    .. [1] A. Kokolis et al., "Revisiting Reliability in Large-Scale Machine Learning Research Clusters", 2024,
       arXiv 2410.21680, section III.

    Examples
    --------
    >>> node = Rate("node", "host", "host", 6.5e-3 * 365, 6.5e-3 * 365, 6.5e-3 * 365)
    >>> round(job_stops([node], {"host": 16384 / 8}).mttf_h, 2)
    1.8
    """
    found = [(r, counts.get(r.per, 0.0), counts.get(r.per, 0.0) / DAYS_PER_YEAR) for r in rates]
    value = sum(r.value * days for r, _, days in found)
    below = math.sqrt(sum(((r.value - r.low) * days) ** 2 for r, _, days in found))
    above = math.sqrt(sum(((r.high - r.value) * days) ** 2 for r, _, days in found))
    parts = sorted(
        ((r.id, n, r.value * days) for r, n, days in found if n), key=lambda p: (-p[2], p[0])
    )
    return Stops(
        value,
        value - below,
        value + above,
        sum(r.value * r.replaced_frac * days for r, _, days in found),
        tuple(parts),
    )


def typed_stops(per_1000_node_days: float, nodes: float, replaced_frac: float) -> Stops:
    """Stops from one rate a node, as fleets publish them.

    Examples
    --------
    >>> round(typed_stops(6.5, 16384, 0.4).mttf_h, 3)  # RSC-1's rate on 131,072 accelerators
    0.225
    """
    per_day = per_1000_node_days / 1000.0 * nodes
    return Stops(per_day, per_day, per_day, per_day * replaced_frac, (("nodes", nodes, per_day),))

"""Stop rate of a job: counts of parts times their rates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dcplan.units import RATE_DAYS_PER_YEAR


@dataclass(frozen=True)
class Rate:
    """Job stops per year of one part, with the bounds of its source."""

    id: str
    role: str
    per: str
    value: float
    low: float
    high: float
    replaced_frac: float = 0.0
    """Share of stops after which a node leaves the job until its repair."""


@dataclass(frozen=True)
class Stops:
    """Stops of a job per day: total, by part, and those that remove a node."""

    per_day: float
    low_per_day: float
    high_per_day: float
    replaced_per_day: float
    by_part: tuple[tuple[str, float, float], ...]
    """Id of the rate, count of parts, stops per day; most frequent first."""


def job_stops(rates: Sequence[Rate], counts: Mapping[str, float]) -> Stops:
    r"""Return the stops per day of a job that needs all of its parts.

    .. math:: \lambda = \sum_c n_c\, r_c / 365

    Bounds of the parts are independent, so the distances to the bounds add in squares.

    Parameters
    ----------
    rates : sequence of Rate
        One for each kind of part.
    counts : mapping
        Parts in the job by what the rates count (``accelerator``, ``memory_gb``, ``nic``, ``link``,
        ...); a missing part has count 0.

    References
    ----------
    .. [1] A. Kokolis et al., "Revisiting Reliability in Large-Scale Machine Learning Research
       Clusters", 2024, arXiv 2410.21680, section III.

    Examples
    --------
    >>> node = Rate("node", "host", "host", 6.5e-3 * 365, 6.5e-3 * 365, 6.5e-3 * 365)
    >>> round(24 / job_stops([node], {"host": 16384 / 8}).per_day, 2)
    1.8
    """
    found = [
        (r, counts.get(r.per, 0.0), counts.get(r.per, 0.0) / RATE_DAYS_PER_YEAR) for r in rates
    ]
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

"""Transceivers and cables by reach, for links of a given length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Medium:
    """A cable with both ends, or a pair of transceivers with the fiber between them.

    ``usd`` and ``kw`` are for one link with both ends; ``usd_per_m`` is for the fiber.
    """

    id: str
    kind: str
    reach_m: float
    usd: float
    low_usd: float
    high_usd: float
    kw: float
    usd_per_m: float = 0.0

    def cost(self, meters: float) -> float:
        """Return the price of one link of a length [USD]."""
        return self.usd + self.usd_per_m * meters


def pick(media: Sequence[Medium], meters: float) -> Medium:
    """Return the cheapest medium with sufficient reach; for equal prices the one with less power.

    Parameters
    ----------
    media : sequence of Medium
        Available media.
    meters : float
        Length of the cable. [m]

    Raises
    ------
    ValueError
        If no reach is sufficient; the message names the longest medium.

    Examples
    --------
    >>> copper = Medium("dac", "dac", 2.0, 170.0, 100.0, 240.0, 0.0)
    >>> light = Medium("dr4", "transceiver", 500.0, 1300.0, 800.0, 2000.0, 0.03, 1.0)
    >>> pick([light, copper], 1.5).id, pick([light, copper], 30.0).id
    ('dac', 'dr4')
    """
    able = [m for m in media if m.reach_m >= meters - 1e-9]
    if not able:
        longest = max(media, key=lambda m: m.reach_m, default=None)
        most = (
            f"{longest.id} reaches {longest.reach_m:g} m"
            if longest
            else "the catalog has no medium"
        )
        msg = f"no medium reaches {meters:g} m: {most}"
        raise ValueError(msg)
    return min(able, key=lambda m: (m.cost(meters), m.kw, m.id))

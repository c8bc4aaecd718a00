"""Transceivers and cables by reach: what joins two ports a given length apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Medium:
    """A cable with both its ends, or a pair of transceivers with the fibre between them.

    ``usd`` and ``kw`` are for one link and both its ends; ``usd_per_m`` for the fibre.
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
        """Price of one link of a length [USD]."""
        return self.usd + self.usd_per_m * meters


def pick(media: Sequence[Medium], meters: float) -> Medium:
    """Return the cheapest medium that reaches; of equals the one that draws less.

    Parameters
    ----------
    media : sequence of Medium
        What may be used.
    meters : float
        Length of the cable. [m]

    Raises
    ------
    ValueError
        When none reaches; the message names the longest one.

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
        most = f"{longest.id} reaches {longest.reach_m:g} m" if longest else "the catalog has none"
        msg = f"no medium reaches {meters:g} m: {most}"
        raise ValueError(msg)
    return min(able, key=lambda m: (m.cost(meters), m.kw, m.id))

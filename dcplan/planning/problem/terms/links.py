"""Links between halls of a site, and between sites."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dcplan.economics.cash_flow import AssetClass, Flow


@dataclass(frozen=True)
class LinkTerms:
    """A link that joins halls; cost and power are those of the end of one hall."""

    id: str
    ends: tuple[str, ...]
    """Halls, in the order of the scenario."""
    gbps: float
    """Capacity of an end, one way. [Gb/s]"""
    rtt_s: float
    """Round trip between two halls."""
    usd: float
    usd_per_quarter: float
    kw: float
    first: int
    """First quarter in which it can serve."""
    lead: int = 0
    """Quarters from its order to its service."""
    optic: str = ""
    """Row of its optic."""

    @property
    def local(self) -> bool:
        """Return whether its halls are at one site.

        Examples
        --------
        >>> LinkTerms("x", ("a/1", "b/1"), 800.0, 0.01, 1e6, 1e4, 2.0, 0).local
        False
        """
        return len({end.partition("/")[0] for end in self.ends}) == 1


def link_of(flow: Flow, links: Iterable[LinkTerms]) -> LinkTerms | None:
    """Return the link that a payment buys or leases; None for another payment."""
    if flow.goods is None or flow.asset not in (AssetClass.NETWORK, AssetClass.OTHER):
        return None
    return next((x for x in links if x.id == flow.goods.item and flow.goods.place in x.ends), None)

"""Links between halls, over which one run may train."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from dcplan.catalog.schema.ranges import Megawatts, NonNegative, Positive
from dcplan.scenario.schema.base import CountOrZero, Key, Part, Quarter


class Link(Part):
    """A link that joins halls of one site, or one hall of each of two sites. One run at a time uses
    the end of a hall. The plan pays for the ends that its runs use.
    """

    id: Key
    """Name of the link, used in `over` of a training run and in tables."""
    joins: Annotated[tuple[str, ...], Field(min_length=2, max_length=8)]
    """Halls, each as its site, a slash and its name: two to eight of one site, or two of different sites. A run over
    several halls of a site takes neighbors in this order."""
    km: Positive
    """Length of the fiber: between two halls, or from a hall to the core routers where a link joins
    more than two. It sizes no part of a link whose `usd`, `usd_per_year`, `mw` and `rtt_ms` are given."""
    gbps: Positive
    """Capacity of the end of a hall, one way in Gb/s."""
    optic: str | None = None
    """Row of the catalog kind optics. Default: the cheapest that reaches, with amplifiers and ROADMs
    where the route needs them."""
    router: str | None = None
    """Row of the catalog kind switches at the ends. Default: the router of `fabric --site-link-km`."""
    span_km: Positive | None = None
    """Longest distance between amplifiers. Default: `network/line-span-km`."""
    usd: NonNegative | None = None
    """Your own price of the complete link. Default: computed from its parts."""
    usd_per_year: NonNegative | None = None
    """Your own lease of the complete link. Default: computed from fiber pairs and amplifier sites; within a
    site, the fiber is bought and `usd` has its price."""
    mw: Megawatts | None = None
    """Your own power of all its equipment. Default: computed from its parts."""
    rtt_ms: Positive | None = None
    """Your own round trip between two of its halls. Default: computed from its length."""
    lead_quarters: CountOrZero = 0
    """Quarters from the order to service. The price is due in the quarter of service."""
    available_from: Quarter | None = None
    """First quarter of use. Default: the start of the horizon, or after the lead time."""

    @property
    def within_site(self) -> bool:
        """Return whether it joins halls of one site."""
        return len({name.partition("/")[0] for name in self.joins}) == 1

    @property
    def quoted(self) -> bool:
        """Return whether price, lease, power and round trip are given, so that no part is sized."""
        given = (self.usd, self.usd_per_year, self.mw, self.rtt_ms)
        return all(x is not None for x in given)

"""Links between halls of a site, and between sites."""

from __future__ import annotations

from dataclasses import dataclass


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

"""Links between halls and sites: transceivers on fiber pairs of their own, or coherent ones on shared pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dcplan.units import MONTHS_PER_YEAR


@dataclass(frozen=True)
class Line:
    """Parts of a long link and their prices."""

    port_gbps: float
    port_usd: float
    port_kw: float
    plain_reach_km: float
    """Reach without amplifiers and multiplexers: each port has its own fiber pairs."""
    amplified_reach_km: float
    """Reach with them, of ports whose wavelengths share a fiber pair. The plain reach: they share none."""
    pair_gbps: float
    """Capacity of one fiber pair over all wavelengths."""
    span_km: float
    amplifier_usd: float
    mux_pair_usd: float
    lease_usd_per_pair_km_month: float
    fibre_us_per_km: float
    port_pairs: float = 1.0
    """Fiber pairs of a port that shares none. [-]"""
    own_usd_per_pair_km: float = 0.0
    """Price of fiber that is bought instead of leased."""


@dataclass(frozen=True)
class Interconnect:
    """Sized links between two places."""

    links: int
    ports: int
    fibre_pairs: int
    amplifiers: int
    capex_usd: float
    lease_usd_per_year: float
    power_kw: float
    rtt_us: float
    gbps: float


def interconnect(gbps: float, route_km: float, line: Line) -> Interconnect:
    r"""Size links of a capacity over a route.

    Ports are :math:`2\lceil C / c \rceil`. Beyond the plain reach of a port, wavelengths share fiber
    pairs through multiplexers, with amplifiers at both ends and after every span. Within the plain
    reach, the cheaper of separate pairs and shared pairs over ten years is used. Ports without a longer
    amplified reach have no wavelengths that could share a pair, so each has its own pairs.

    Parameters
    ----------
    gbps : float
        Capacity one way. [Gb/s]
    route_km : float
        Length of the fiber route, not of the direct line. [km]
    line : Line
        Parts and prices.

    Raises
    ------
    ValueError
        If the route is longer than the reach of the ports with amplifiers.

    Examples
    --------
    10 Tb/s over 60 km of 400ZR: 25 links on one pair, amplified at both ends.

    >>> zr = Line(400.0, 4000.0, 0.018, 40.0, 120.0, 25600.0, 80.0, 10000.0, 12000.0, 150.0, 4.897)
    >>> found = interconnect(10000.0, 60.0, zr)
    >>> found.links, found.fibre_pairs, found.amplifiers, round(found.rtt_us)
    (25, 1, 2, 588)

    100 Tb/s over 0.6 km of 400G DR4, with four pairs a port of fiber that is bought at 143 USD a km:
    250 links on 1,000 pairs; 500 ports of 500 USD and 600 km of pairs.

    >>> dr4 = Line(400.0, 500.0, 0.01, 0.6, 0.6, 25600.0, 80.0, 1e4, 1.2e4, 0.0, 4.897, 4.0, 143.0)
    >>> found = interconnect(100000.0, 0.6, dr4)
    >>> found.links, found.fibre_pairs, found.amplifiers, found.capex_usd
    (250, 1000, 0, 335800.0)
    """
    if route_km > line.amplified_reach_km:
        msg = f"{route_km:g} km is more than the reach of the port with amplifiers, {line.amplified_reach_km:g} km"
        raise ValueError(msg)
    links = max(math.ceil(gbps / line.port_gbps - 1e-9), 1)
    ways = []
    if route_km <= line.plain_reach_km:
        ways.append((math.ceil(links * line.port_pairs - 1e-9), 0, 0.0))
    if line.amplified_reach_km > line.plain_reach_km:
        ways.append(_shared(links, route_km, line))
    pairs, amplifiers, gear_usd = min(ways, key=lambda way: _ten_years(way, route_km, line))
    gear_usd += pairs * route_km * line.own_usd_per_pair_km
    lease = pairs * route_km * line.lease_usd_per_pair_km_month * MONTHS_PER_YEAR
    return Interconnect(
        links=links,
        ports=2 * links,
        fibre_pairs=pairs,
        amplifiers=amplifiers,
        capex_usd=2 * links * line.port_usd + gear_usd,
        lease_usd_per_year=lease,
        power_kw=2 * links * line.port_kw,
        rtt_us=2 * route_km * line.fibre_us_per_km,
        gbps=links * line.port_gbps,
    )


SourcingOption = tuple[int, int, float]
"""Fiber pairs, amplifiers, and their price with multiplexers."""


def _shared(links: int, route_km: float, line: Line) -> SourcingOption:
    pairs = math.ceil(links / (line.pair_gbps // line.port_gbps))
    spans = max(math.ceil(route_km / line.span_km - 1e-9), 1)
    amplifiers = pairs * (spans + 1)
    return pairs, amplifiers, amplifiers * line.amplifier_usd + pairs * line.mux_pair_usd


def _ten_years(way: SourcingOption, route_km: float, line: Line) -> float:
    each = line.own_usd_per_pair_km + 10 * MONTHS_PER_YEAR * line.lease_usd_per_pair_km_month
    return way[2] + way[0] * route_km * each

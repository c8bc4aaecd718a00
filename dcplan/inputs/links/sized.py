"""A link of a plan: direct optics or a star of halls, metro optics, or a long-haul line system."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dcplan.catalog.schema import Optic
from dcplan.errors import InputError, Problem
from dcplan.fabric.interconnect import interconnect
from dcplan.inputs.links.facts import (
    METRO_OPTIC,
    LinkAsk,
    far_km,
    line_of,
    local_gbps,
    record_local,
    record_router,
    tried_line,
)
from dcplan.inputs.links.long_haul import (
    SEARCH_YEARS,
    link_options,
    local_part,
    option_rtt_us,
    router_parts,
)
from dcplan.inputs.log import InputLog
from dcplan.units import MICRO

PLUGGABLE = ("transceiver", "lpo", "lro")


@dataclass(frozen=True)
class SizedLink:
    """What a link of a plan costs and does: all ends and everything between them."""

    optic: str
    capex_usd: float
    usd_per_year: float
    """Lease of fiber and of amplifier sites."""
    kw: float
    rtt_s: float


def sized(ask: LinkAsk, ends: int, log: InputLog) -> SizedLink:
    """Return a link between two places, or between several halls through a core of routers.

    The optic is the given one, or the cheapest that reaches, over ten years with its fiber: a transceiver
    or 400ZR, then the coherent signals of a line system. Each end has router ports for it and for the
    network of its hall.

    Parameters
    ----------
    ask : LinkAsk
        Capacity of an end, route and parts.
    ends : int
        Places that it joins; more than two have a core of routers between them.
    log : InputLog
        Log of the inputs.

    Raises
    ------
    InputError
        When no optic reaches, or more than two places are joined by a line system.
    """
    optic = ask.optic or _cheapest(ask, log)
    if optic is None or optic.least_osnr_db is not None:
        return _far(ask, ends, log)
    return _near(ask, optic, ends, log)


def _cheapest(ask: LinkAsk, log: InputLog) -> Optic | None:
    """Return the transceiver, or 400ZR, that reaches and costs least over ten years; None for neither."""
    best: tuple[float, Optic] | None = None
    for row in log.catalog.table("optics", Optic).values():
        plain = row.kind in PLUGGABLE and (not row.protocols or "ethernet" in row.protocols)
        known = row.price_usd and (row.max_kw or row.typical_kw) and row.reach_m
        if not known or not (plain or row.id == METRO_OPTIC):
            continue
        if row.rate_gbps.value > local_gbps(log) or ask.route_km > far_km(row):
            continue
        leg = interconnect(ask.gbps, ask.route_km, tried_line(row, log, own_fiber=ask.own_fiber))
        usd = leg.capex_usd + SEARCH_YEARS * leg.lease_usd_per_year
        if best is None or usd < best[0]:
            best = usd, row
    return best[1] if best else None


def _near(ask: LinkAsk, optic: Optic, ends: int, log: InputLog) -> SizedLink:
    """Return a link of direct optics, with the routers of both ends."""
    legs = 1 if ends == 2 else ends
    try:
        line = line_of(optic, ask.where("optic"), log, own_fiber=ask.own_fiber)
        leg = interconnect(ask.gbps, ask.route_km, line)
    except ValueError as error:
        cause, step = (
            f"{optic.id}: {error}",
            "leave the optic out: the cheapest that reaches is taken",
        )
        raise InputError([Problem("DC054", cause, ask.where("km"), help=step)]) from error
    rate = local_gbps(log)
    ports = math.ceil(leg.gbps / rate - 1e-9)
    # half of the ports of a router are for the network of its hall, over a transceiver at both ends
    parts = [*router_parts(ask.router, 2 * ports, ends, rate), local_part(2 * ports * ends, log)]
    if legs > 1:
        parts += router_parts(ask.router, legs * ports, 1, rate)
    latency_s = record_router(ask.router, log)
    record_local(log)
    hops = 2 if legs == 1 else 3
    # the way from one hall to another has two legs if a core is between them
    rtt_s = leg.rtt_us * MICRO * min(legs, 2) + 2.0 * hops * latency_s
    return SizedLink(
        optic=optic.id,
        capex_usd=legs * leg.capex_usd + sum(part.usd for part in parts),
        usd_per_year=legs * leg.lease_usd_per_year,
        kw=legs * leg.power_kw + sum(part.kw for part in parts),
        rtt_s=rtt_s,
    )


def _far(ask: LinkAsk, ends: int, log: InputLog) -> SizedLink:
    """Return a link over a line system."""
    if ends > 2:
        cause = (
            f"{ask.route_km:g} km of fiber need a line system, which joins two places, not {ends}"
        )
        step = "declare one link for each pair of places"
        raise InputError([Problem("DC054", cause, ask.where("km"), help=step)])
    best = link_options(ask, log)[0][0]
    return SizedLink(
        optic=best.row.id,
        capex_usd=best.usd,
        usd_per_year=best.usd_per_year,
        kw=best.kw,
        rtt_s=option_rtt_us(best, ask, log) * MICRO,
    )

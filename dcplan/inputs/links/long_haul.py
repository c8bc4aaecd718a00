"""Long-haul links: every coherent signal that serves a route, with its parts, the cheapest first."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from dcplan.catalog.schema import Optic, Parameter, Switch
from dcplan.errors import InputError, Problem
from dcplan.fabric.long_haul import LongHaul, long_haul, reach_km, round_trip_us
from dcplan.inputs.links.facts import (
    LOCAL_OPTIC,
    LinkAsk,
    glass_of,
    local_gbps,
    mode_of,
    number,
    record,
)
from dcplan.inputs.log import InputLog
from dcplan.provenance import Quantity
from dcplan.units import MICRO, NANO

SEARCH_YEARS = 10.0
"""Years over which capital cost and lease of options are compared."""


@dataclass(frozen=True)
class LinkPart:
    """One kind of part of a link; the values are for all pieces."""

    item: str
    part: str
    count: int
    usd: float
    low_usd: float
    high_usd: float
    kw: float
    status: str


@dataclass(frozen=True)
class LinkOption:
    """One coherent signal that serves the route."""

    row: Optic
    found: LongHaul
    reach_km: float
    parts: tuple[LinkPart, ...]
    usd_per_year: float

    @property
    def usd(self) -> float:
        """Return the price of all parts."""
        return sum(part.usd for part in self.parts)

    @property
    def ten_years_usd(self) -> float:
        """Return the price of all parts, and the lease of ten years."""
        return self.usd + SEARCH_YEARS * self.usd_per_year

    @property
    def kw(self) -> float:
        """Return the power of all parts."""
        return sum(part.kw for part in self.parts)


@dataclass(frozen=True)
class RefusedSignal:
    """A coherent signal that does not serve the route, with the reason."""

    row: Optic
    reach_km: float
    spans: int
    why: str


def link_options(ask: LinkAsk, log: InputLog) -> tuple[list[LinkOption], list[RefusedSignal]]:
    """Return the coherent signals that serve a route, the cheapest over ten years first, and others.

    Raises
    ------
    InputError
        When no coherent signal serves the route.
    """
    glass = glass_of(log)
    longest_km = log.chosen(ask.span_key, ask.span_km, "network", "line-span-km")
    rows = [ask.optic]
    if ask.optic is None:
        rows = [r for r in log.catalog.table("optics", Optic).values() if r.least_osnr_db]
    options: list[LinkOption] = []
    refused: list[RefusedSignal] = []
    spans = max(math.ceil(ask.route_km / longest_km - 1e-9), 1)
    for row in filter(None, rows):
        mode = mode_of(row, ask.where("optic"))
        reach = reach_km(mode, ask.route_km / spans, glass)
        try:
            found = long_haul(ask.gbps, ask.route_km, longest_km, mode, glass, local_gbps(log))
        except ValueError as error:
            refused.append(RefusedSignal(row, reach, spans, str(error)))
            continue
        parts = tuple(_parts(row, found, ask.router, log))
        options.append(LinkOption(row, found, reach, parts, _per_year(found, ask.route_km, log)))
    if not options:
        raise InputError([_no_signal(refused, ask)])
    options.sort(key=lambda option: option.ten_years_usd)
    record(options[0].row, ask.router, log)
    return options, refused


def option_rtt_us(option: LinkOption, ask: LinkAsk, log: InputLog) -> float:
    """Return the round-trip time over an option [us]."""
    delays = (
        log.parameter("network", "line-amplifier-us"),
        log.parameter("network", "coherent-port-us"),
        number(ask.router.latency_ns) * NANO / MICRO,
    )
    fibre = log.parameter("network", "fibre-us-per-km")
    return round_trip_us(option.found, ask.route_km, fibre, delays)


def _no_signal(refused: list[RefusedSignal], ask: LinkAsk) -> Problem:
    reasons = "; ".join(f"{x.row.id}: {x.why}" for x in refused)
    cause = f"no coherent signal serves {ask.route_km:.0f} km of fiber: {reasons}"
    step = "give a shorter distance between amplifiers, or leave the optic out"
    return Problem("DC054", cause, ask.where("km"), help=step)


def router_parts(router: Switch, ports: int, ends: int, gbps: float) -> Iterator[LinkPart]:
    """Yield the routers and line cards of a number of ports of a rate at each end."""
    radix = router.ports[f"{gbps:g}"]
    boxes = math.ceil(ports / radix)
    yield priced("routers", router.id, ends * boxes, router.price_usd, router.typical_kw)
    if router.cards:
        cards = math.ceil(ports / (radix / router.cards))
        yield priced("router line cards", router.id, ends * cards, router.card_usd, router.card_kw)


def _parts(row: Optic, found: LongHaul, router: Switch, log: InputLog) -> Iterator[LinkPart]:
    """Yield the parts of both ends and of the route."""
    kind = "transponders" if row.kind == "transponder" else "coherent transceivers"
    yield priced(kind, row.id, found.ports, row.price_usd, row.typical_kw)
    degrees = f"{found.per_pair} wavelengths a degree"
    yield _common(
        "ROADM degrees", degrees, found.roadm_degrees, ("roadm-degree-usd", "roadm-degree-kw"), log
    )
    spans = f"{found.spans} spans of {found.span_km:.1f} km"
    yield _common(
        "line amplifiers", spans, found.amplifiers, ("amplifier-usd", "line-amplifier-kw"), log
    )
    yield from router_parts(router, found.router_ports, 2, local_gbps(log))
    yield local_part(found.local_transceivers, log)


def local_part(count: int, log: InputLog) -> LinkPart:
    """Return the transceivers between routers, transponders and the network of a hall."""
    row = log.catalog.get("optics", LOCAL_OPTIC, Optic)
    return priced("short-reach transceivers", row.id, count, row.price_usd, row.max_kw)


def priced(item: str, part: str, count: int, usd: Quantity | None, kw: Quantity | None) -> LinkPart:
    """Return the price and the power of some pieces of a part."""
    value, (low, high) = number(usd), usd.bounds if usd else (0.0, 0.0)
    status = "estimate" if usd and str(usd.status) == "estimate" else "listed"
    prices = (value * count, low * count, high * count)
    return LinkPart(item, part, count, *prices, number(kw) * count, status)


def _common(item: str, part: str, count: int, keys: tuple[str, str], log: InputLog) -> LinkPart:
    """Return a part whose price and power are parameters of the catalog."""
    usd, kw = (log.catalog.get("network", key, Parameter).value for key in keys)
    return priced(item, part, count, usd, kw)


def _per_year(found: LongHaul, route_km: float, log: InputLog) -> float:
    lease = log.parameter("network", "long-haul-fibre-usd-per-pair-km-year")
    site = log.parameter("network", "amplifier-site-usd-per-pair-year")
    return found.fibre_pairs * route_km * lease + found.hut_pairs * site

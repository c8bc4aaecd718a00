"""A long-haul link between sites: the coherent signal with the lowest cost, and its parts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from dcplan.answers.fabric.bill.lines import FREE, Kind, Line, Price
from dcplan.answers.fabric.request import FabricRequest
from dcplan.answers.fabric.sites.facts import glass_of, mode_of, number, record, router_row
from dcplan.catalog.schema import Optic, Parameter, Switch
from dcplan.errors import InputError, Place, Problem
from dcplan.fabric.long_haul import LongHaul, long_haul, reach_km, round_trip_us
from dcplan.inputs.log import InputLog
from dcplan.provenance import Quantity
from dcplan.result import Table
from dcplan.specs.fabric import use as specs
from dcplan.units import MICRO, NANO

LOCAL_OPTIC, LOCAL_GBPS = "generic-800g-dsp", 800.0
"""Transceiver of the short links at both ends."""


@dataclass(frozen=True)
class _Option:
    """One coherent signal that serves the route."""

    row: Optic
    found: LongHaul
    reach_km: float
    parts: list[Line]
    usd_per_year: float

    @property
    def price(self) -> Price:
        total = FREE
        for line in self.parts:
            total = total.plus(line.price)
        return total

    @property
    def ten_years_usd(self) -> float:
        return self.price.value + 10.0 * self.usd_per_year

    @property
    def kw(self) -> float:
        return sum(line.kw for line in self.parts)


def answer(
    request: FabricRequest, only: Optic | None, gbps: float, route_km: float, log: InputLog
) -> tuple[dict[str, Table], specs.SiteLinkRow]:
    """Return the tables of a long-haul link and its row among the site links.

    Raises
    ------
    InputError
        When no coherent signal serves the route, or the router lacks a port of the rate.
    """
    router = router_row(request, LOCAL_GBPS, log)
    glass = glass_of(log)
    longest_km = log.chosen(
        "fabric.site_link_span_km",
        None if request.site_link_span_km is None else Quantity(value=request.site_link_span_km),
        "network",
        "line-span-km",
    )
    rows = (
        [only]
        if only
        else [r for r in log.catalog.table("optics", Optic).values() if r.least_osnr_db]
    )
    options: list[_Option] = []
    table: list[specs.SiteLinkOptionRow] = []
    spans = max(math.ceil(route_km / longest_km - 1e-9), 1)
    for row in rows:
        mode = mode_of(row)
        reach = reach_km(mode, route_km / spans, glass)
        try:
            found = long_haul(gbps, route_km, longest_km, mode, glass, LOCAL_GBPS)
        except ValueError as error:
            table.append(
                specs.SiteLinkOptionRow(row.id, mode.gbps, reach, spans=spans, why_not=str(error))
            )
            continue
        parts = list(_parts(row, found, router, log))
        options.append(_Option(row, found, reach, parts, _per_year(found, route_km, log)))
    if not options:
        raise InputError([_no_signal(table, route_km)])
    options.sort(key=lambda option: option.ten_years_usd)
    best = options[0]
    record(best.row, router, log.catalog.get("optics", LOCAL_OPTIC, Optic), log)
    tables = {
        "site_link_parts": specs.SITE_LINK_PARTS.table(_part_row(x) for x in best.parts if x.count),
        "site_link_options": specs.SITE_LINK_OPTIONS.table([*map(_option_row, options), *table]),
    }
    return tables, _link_row(best, route_km, router, log)


def _no_signal(table: list[specs.SiteLinkOptionRow], route_km: float) -> Problem:
    reasons = "; ".join(f"{row.port}: {row.why_not}" for row in table)
    cause = f"no coherent signal serves {route_km:.0f} km of fiber: {reasons}"
    step = "a shorter --site-link-span-km, or leave --site-link-optic out"
    return Problem("DC054", cause, Place("--site-link-km"), help=step)


def _parts(row: Optic, found: LongHaul, router: Switch, log: InputLog) -> Iterator[Line]:
    """Yield the parts of both ends and of the route."""
    kind = "transponders" if row.kind == "transponder" else "coherent transceivers"
    local = log.catalog.get("optics", LOCAL_OPTIC, Optic)
    radix = router.ports[f"{LOCAL_GBPS:g}"]
    boxes = math.ceil(found.router_ports / radix)
    yield _line(kind, row.id, found.ports, row.price_usd, row.typical_kw)
    degrees = f"{found.per_pair} wavelengths a degree"
    yield _common(
        "ROADM degrees", degrees, found.roadm_degrees, ("roadm-degree-usd", "roadm-degree-kw"), log
    )
    spans = f"{found.spans} spans of {found.span_km:.1f} km"
    yield _common(
        "line amplifiers", spans, found.amplifiers, ("amplifier-usd", "line-amplifier-kw"), log
    )
    yield _line("routers", router.id, 2 * boxes, router.price_usd, router.typical_kw)
    if router.cards:
        cards = math.ceil(found.router_ports / (radix / router.cards))
        yield _line("router line cards", router.id, 2 * cards, router.card_usd, router.card_kw)
    yield _line(
        "short-reach transceivers",
        local.id,
        found.local_transceivers,
        local.price_usd,
        local.max_kw,
    )


def _line(item: str, part: str, count: int, usd: Quantity | None, kw: Quantity | None) -> Line:
    value, (low, high) = number(usd), usd.bounds if usd else (0.0, 0.0)
    status = "estimate" if usd and str(usd.status) == "estimate" else "listed"
    price = Price(low, value, high).times(count)
    return Line(Kind.OTHER, item, part, count, price, number(kw) * count, status=status)


def _common(item: str, part: str, count: int, keys: tuple[str, str], log: InputLog) -> Line:
    """Return a part whose price and power are parameters of the catalog."""
    usd, kw = (log.catalog.get("network", key, Parameter).value for key in keys)
    return _line(item, part, count, usd, kw)


def _per_year(found: LongHaul, route_km: float, log: InputLog) -> float:
    lease = log.parameter("network", "long-haul-fibre-usd-per-pair-km-year")
    site = log.parameter("network", "amplifier-site-usd-per-pair-year")
    return found.fibre_pairs * route_km * lease + found.hut_pairs * site


def _part_row(line: Line) -> specs.SiteLinkPartRow:
    return specs.SiteLinkPartRow(
        item=line.item,
        part=line.part,
        count=line.count,
        power_kw=line.kw,
        usd=line.price.value,
        low_usd=line.price.low,
        high_usd=line.price.high,
        price=line.status,
    )


def _option_row(option: _Option) -> specs.SiteLinkOptionRow:
    found = option.found
    return specs.SiteLinkOptionRow(
        port=option.row.id,
        wavelength_gbps=option.row.rate_gbps.value,
        reach_km=option.reach_km,
        spans=found.spans,
        regenerations=found.sections - 1,
        wavelengths=found.wavelengths,
        fibre_pairs=found.fibre_pairs,
        capex_usd=option.price.value,
        lease_usd_per_year=option.usd_per_year,
        ten_years_usd=option.ten_years_usd,
        power_kw=option.kw,
    )


def _link_row(option: _Option, route_km: float, router: Switch, log: InputLog) -> specs.SiteLinkRow:
    found = option.found
    delays = (
        log.parameter("network", "line-amplifier-us"),
        log.parameter("network", "coherent-port-us"),
        number(router.latency_ns) * NANO / MICRO,
    )
    return specs.SiteLinkRow(
        port=option.row.id,
        gbps=found.gbps,
        route_km=route_km,
        links=found.wavelengths,
        ports=found.ports,
        fibre_pairs=found.fibre_pairs,
        amplifiers=found.amplifiers,
        capex_usd=option.price.value,
        lease_usd_per_year=option.usd_per_year,
        power_kw=option.kw,
        rtt_us=round_trip_us(found, route_km, log.parameter("network", "fibre-us-per-km"), delays),
    )

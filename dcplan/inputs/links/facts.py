"""Catalog rows of a link between halls or sites as arguments of its physics."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from dcplan.catalog.schema import Optic, Switch
from dcplan.errors import InputError, Place, Problem
from dcplan.fabric.interconnect import Line
from dcplan.fabric.long_haul import Mode
from dcplan.fabric.span_noise import Glass
from dcplan.inputs.log import InputLog
from dcplan.provenance import Quantity
from dcplan.units import METERS_PER_KM, NANO

SIGNAL = (
    *("rate_gbps", "gbaud", "spacing_ghz", "least_osnr_db", "reach_amplified_m"),
    *("price_usd", "typical_kw"),
)
ROUTER = ("price_usd", "typical_kw", "card_usd", "card_kw", "latency_ns")
ROUTER_ROW = "arista-7804r4"
"""Router at the ends of links, if none is named."""
LOCAL_OPTIC = "generic-800g-dsp"
"""Transceiver of the short links between routers, transponders and fabric."""
METRO_OPTIC = "coherent-400zr"
"""Transceiver of links up to its reach, if none is named."""
CAMPUS_CABLE = "fiber-os2-12f"
"""Cable of links within a site, whose fiber is bought."""
CABLE_PAIRS = 6
"""Fiber pairs of that cable."""
COMMON = ("roadm-degree-usd", "roadm-degree-kw", "amplifier-usd", "line-amplifier-kw")


@dataclass(frozen=True)
class LinkAsk:
    """A link between two halls or sites, as a user asks for it."""

    gbps: float
    """Capacity one way. [Gb/s]"""
    route_km: float
    """Length of the fiber. [km]"""
    optic: Optic | None
    """Given optic; None: the cheapest that reaches."""
    router: Switch
    """Router of both ends."""
    span_km: Quantity | None
    """Longest distance between amplifiers; None: that of the catalog. [km]"""
    span_key: str
    """Key of that distance in the log."""
    where: Callable[[str], Place]
    """Place of ``optic``, ``router``, ``span`` or ``km`` in the request."""
    own_fiber: bool = False
    """Whether a short link has fiber that is bought, as within a site, instead of leased."""


def check_router(row: Switch, gbps: float, place: Place) -> Switch:
    """Return the router of both ends.

    Raises
    ------
    InputError
        When the row has no price, latency or ports of the rate.
    """
    if f"{gbps:g}" not in row.ports or row.price_usd is None or row.latency_ns is None:
        cause = f"{row.id} has no price, no latency or no ports of {gbps:g} Gb/s"
        raise InputError([Problem("DC050", cause, place, help=f"{ROUTER_ROW} has them")])
    return row


def local_gbps(log: InputLog) -> float:
    """Return the rate of the router ports of links [Gb/s]."""
    return log.catalog.get("optics", LOCAL_OPTIC, Optic).rate_gbps.value


def glass_of(log: InputLog) -> Glass:
    """Return the fiber and the amplifiers of a long-haul line."""
    return Glass(
        loss_db_per_km=log.parameter("network", "line-loss-db-per-km"),
        span_extra_db=log.parameter("network", "line-span-extra-db"),
        noise_figure_db=log.parameter("network", "line-noise-figure-db"),
        dispersion_ps_per_nm_km=log.parameter("network", "line-dispersion-ps-per-nm-km"),
        nonlinear_per_w_km=log.parameter("network", "line-nonlinear-per-w-km"),
        band_ghz=log.parameter("network", "line-band-ghz"),
        wavelength_nm=log.parameter("network", "line-wavelength-nm"),
        margin_db=log.parameter("network", "line-margin-db"),
        add_drop_osnr_db=log.parameter("network", "roadm-add-drop-osnr-db"),
    )


def mode_of(row: Optic, place: Place) -> Mode:
    """Return the coherent signal of a row.

    Raises
    ------
    InputError
        When the row lacks a fact that the sizing needs.
    """
    facts = (row.gbaud, row.spacing_ghz, row.least_osnr_db, row.price_usd, row.typical_kw)
    if any(fact is None for fact in facts):
        cause = f"optics row {row.id} lacks one of gbaud, spacing_ghz, price_usd, typical_kw"
        step = "add it to the row, or name another optic"
        raise InputError([Problem("DC050", cause, place, help=step)])
    far = row.reach_amplified_m
    return Mode(
        gbps=row.rate_gbps.value,
        gbaud=number(row.gbaud),
        spacing_ghz=number(row.spacing_ghz),
        osnr_db=number(row.least_osnr_db),
        most_km=far.value / METERS_PER_KM if far else math.inf,
        own_box=row.kind == "transponder",
    )


def number(quantity: Quantity | None) -> float:
    """Return the value of a quantity; zero without one."""
    return quantity.value if quantity else 0.0


def record(row: Optic, router: Switch, log: InputLog) -> None:
    """Record the facts of the parts that the answer uses."""
    record_router(router, log)
    _record(row, SIGNAL, log)
    record_local(log)
    for key in COMMON:
        log.parameter("network", key)


def record_local(log: InputLog) -> None:
    """Record the facts of the transceivers between routers, transponders and the network of a hall."""
    _record(log.catalog.get("optics", LOCAL_OPTIC, Optic), ("price_usd", "max_kw"), log)


def _record(row: Optic, names: tuple[str, ...], log: InputLog) -> None:
    for name in names:
        quantity = getattr(row, name)
        if quantity is not None:
            log.take(f"optics.{row.id}.{name}", quantity)


def record_router(row: Switch, log: InputLog) -> float:
    """Record the facts of a router, and return its latency [s]."""
    for name in ROUTER:
        quantity = getattr(row, name)
        if quantity is not None:
            log.take(f"switches.{row.id}.{name}", quantity)
    return number(row.latency_ns) * NANO


def far_km(row: Optic) -> float:
    """Return the longest route of a transceiver, with amplifiers if it has any [km]."""
    reach = row.reach_amplified_m or row.reach_m
    return reach.value / METERS_PER_KM if reach else 0.0


def line_of(row: Optic, place: Place, log: InputLog, *, own_fiber: bool = False) -> Line:
    """Return the parts of a link of one transceiver, without routers.

    Parameters
    ----------
    row : Optic
        Transceiver.
    place : Place
        Place of the request that names it.
    log : InputLog
        Log of the inputs.
    own_fiber : bool, default False
        Whether the fiber is bought, as within a site, instead of leased.

    Raises
    ------
    InputError
        When the row has no price, power or reach.
    """
    power = row.max_kw or row.typical_kw
    if row.price_usd is None or power is None or row.reach_m is None:
        cause = f"optics row {row.id} has no price, power or reach"
        raise InputError([Problem("DC050", cause, place, help=f"{METRO_OPTIC} has them")])
    log.take(f"optics.{row.id}.max_kw", power)
    _record(row, ("price_usd", "reach_m"), log)
    if own_fiber:
        _record(log.catalog.get("optics", CAMPUS_CABLE, Optic), ("usd_per_m",), log)
    return tried_line(row, log, own_fiber=own_fiber)


def tried_line(row: Optic, log: InputLog, *, own_fiber: bool) -> Line:
    """Return the parts of a link of one transceiver, which is compared with others and not recorded."""
    lease, bought = log.parameter("network", "fibre-lease-usd-per-pair-km-month"), 0.0
    if own_fiber:
        cable = log.catalog.get("optics", CAMPUS_CABLE, Optic)
        lease, bought = 0.0, number(cable.usd_per_m) * METERS_PER_KM / CABLE_PAIRS
    return Line(
        port_gbps=row.rate_gbps.value,
        port_usd=number(row.price_usd),
        port_kw=number(row.max_kw or row.typical_kw),
        plain_reach_km=number(row.reach_m) / METERS_PER_KM,
        amplified_reach_km=far_km(row),
        pair_gbps=log.parameter("network", "wavelength-gbps-per-pair-max"),
        span_km=log.parameter("network", "amplifier-span-km"),
        amplifier_usd=log.parameter("network", "amplifier-usd"),
        mux_pair_usd=log.parameter("network", "mux-pair-usd"),
        lease_usd_per_pair_km_month=lease,
        fibre_us_per_km=log.parameter("network", "fibre-us-per-km"),
        port_pairs=(row.fibers or 2) / 2.0,
        own_usd_per_pair_km=bought,
    )

"""Catalog rows of a long-haul link as arguments of its physics."""

from __future__ import annotations

import math

from dcplan.answers.common.catalog_rows import named
from dcplan.answers.fabric.request import FabricRequest
from dcplan.catalog.schema import Optic, Switch
from dcplan.errors import InputError, Place, Problem
from dcplan.fabric.long_haul import Mode
from dcplan.fabric.span_noise import Glass
from dcplan.inputs.log import InputLog
from dcplan.provenance import Quantity
from dcplan.units import METERS_PER_KM

SIGNAL = (
    *("rate_gbps", "gbaud", "spacing_ghz", "least_osnr_db", "reach_amplified_m"),
    *("price_usd", "typical_kw"),
)
ROUTER = ("price_usd", "typical_kw", "card_usd", "card_kw", "latency_ns")
COMMON = ("roadm-degree-usd", "roadm-degree-kw", "amplifier-usd", "line-amplifier-kw")


def router_row(request: FabricRequest, gbps: float, log: InputLog) -> Switch:
    """Return the router of both ends.

    Raises
    ------
    InputError
        When the row is unknown, or has no price, latency or ports of the rate.
    """
    row = named(log.catalog, "switches", request.site_link_router, Switch, "--site-link-router")
    if f"{gbps:g}" not in row.ports or row.price_usd is None or row.latency_ns is None:
        cause = f"{row.id} has no price, no latency or no ports of {gbps:g} Gb/s"
        problem = Problem(
            "DC050", cause, Place("--site-link-router"), help="--site-link-router arista-7804r4"
        )
        raise InputError([problem])
    return row


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


def mode_of(row: Optic) -> Mode:
    """Return the coherent signal of a row.

    Raises
    ------
    InputError
        When the row lacks a fact that the sizing needs.
    """
    facts = (row.gbaud, row.spacing_ghz, row.least_osnr_db, row.price_usd, row.typical_kw)
    if any(fact is None for fact in facts):
        cause = f"optics row {row.id} lacks one of gbaud, spacing_ghz, price_usd, typical_kw"
        step = "add it to the row, or another --site-link-optic"
        raise InputError([Problem("DC050", cause, Place("--site-link-optic"), help=step)])
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


def record(row: Optic, router: Switch, local: Optic, log: InputLog) -> None:
    """Record the facts of the parts that the answer uses."""
    used = (
        ("optics", row, SIGNAL),
        ("switches", router, ROUTER),
        ("optics", local, ("price_usd", "max_kw")),
    )
    for kind, part, names in used:
        for name in names:
            quantity = getattr(part, name)
            if quantity is not None:
                log.take(f"{kind}.{part.id}.{name}", quantity)
    for key in COMMON:
        log.parameter("network", key)

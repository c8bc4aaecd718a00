"""Links to another hall or site: metro optics as far as they reach, then a long-haul line system."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.answers.common.catalog_rows import named
from dcplan.answers.fabric.request import FabricRequest
from dcplan.answers.fabric.resolve import ResolvedFabric
from dcplan.answers.fabric.sites import long_haul
from dcplan.catalog.schema import Optic, Switch
from dcplan.errors import InputError, Place, Problem
from dcplan.fabric.interconnect import Interconnect, interconnect
from dcplan.inputs.links.facts import (
    METRO_OPTIC,
    LinkAsk,
    check_router,
    far_km,
    line_of,
    local_gbps,
)
from dcplan.inputs.log import InputLog
from dcplan.provenance import Quantity, Status
from dcplan.result import Metric, Table
from dcplan.specs.fabric import use as specs
from dcplan.units import MICRO, MILLI


@dataclass(frozen=True)
class Joined:
    """Tables and metrics of the links between two sites, and the next command."""

    tables: dict[str, Table]
    metrics: dict[str, Metric]
    note: str


def join(resolved: ResolvedFabric, bisection_gbps: float, log: InputLog) -> Joined:
    """Return ports, fiber, lease and round-trip time of the links to another hall or site.

    The default capacity is a tenth of the network's bisection bandwidth.

    Raises
    ------
    InputError
        When the optic is unknown or does not reach; the error names the next step.
    """
    request = resolved.request
    air_km, gbps = request.site_link_km or 0.0, request.site_link_gbps or bisection_gbps / 10.0
    if gbps <= 0.0:
        cause = (
            "the network has no bisection bandwidth, so the capacity between the sites is unknown"
        )
        problem = Problem("DC050", cause, Place("--site-link-km"), help="--site-link-gbps 400")
        raise InputError([problem])
    route = air_km * log.parameter("network", "route-factor")
    wanted = request.site_link_optic or METRO_OPTIC
    optic = named(log.catalog, "optics", wanted, Optic, "--site-link-optic")
    near = route <= far_km(optic)
    if optic.least_osnr_db is not None or (request.site_link_optic is None and not near):
        only = optic if request.site_link_optic else None
        tables, link = long_haul.answer(_asked(request, only, gbps, route, log), log)
    else:
        _refuse_unused(resolved)
        link = _metro(optic, gbps, air_km, route, log)
        tables = {}
    if request.site_link_optic is None:
        log.text("fabric.site_link_optic", link.port, Status.DEFAULT)
    nic_gbps = resolved.attached.nodes * resolved.attached.nics_per_node * resolved.nic_gbps
    metrics = {
        **specs.SITE_LINK_GBPS(link.gbps),
        **specs.SITE_LINK_RTT_US(link.rtt_us),
        **specs.SITE_LINK_CAPEX_USD(link.capex_usd),
        **specs.SITE_LINK_LEASE_USD(link.lease_usd_per_year),
        **specs.SITE_LINK_KW(link.power_kw),
        **specs.SITE_LINK_OVERSUBSCRIPTION(nic_gbps / link.gbps),
    }
    tables = {"site_links": specs.SITE_LINKS.table([link]), **tables}
    return Joined(tables, metrics, _command(resolved, link))


def _asked(
    request: FabricRequest, only: Optic | None, gbps: float, route_km: float, log: InputLog
) -> LinkAsk:
    """Return the request of a long-haul link."""
    flag = "--site-link-router"
    router = named(log.catalog, "switches", request.site_link_router, Switch, flag)
    span = request.site_link_span_km
    return LinkAsk(
        gbps=gbps,
        route_km=route_km,
        optic=only,
        router=check_router(router, local_gbps(log), Place(flag)),
        span_km=None if span is None else Quantity(value=span),
        span_key="fabric.site_link_span_km",
        where=lambda name: Place(f"--site-link-{name}"),
    )


def _command(resolved: ResolvedFabric, link: specs.SiteLinkRow) -> str:
    """Return the command that trains across both sites over this link."""
    system = resolved.system
    count = 2 * (resolved.accelerators or 0)
    hardware = (
        f"--system {system.id} -n {count}" if system and count else "--system SYSTEM -n COUNT"
    )
    rtt_ms = link.rtt_us * MICRO / MILLI
    return (
        f"for a run over both sites: dcplan train MODEL {hardware} --wan-sites 2 "
        f"--wan-gbps {link.gbps:.0f} --wan-rtt-ms {rtt_ms:.3f}"
    )


def _metro(
    row: Optic, gbps: float, air_km: float, route_km: float, log: InputLog
) -> specs.SiteLinkRow:
    try:
        found = interconnect(gbps, route_km, line_of(row, Place("--site-link-optic"), log))
    except ValueError as error:
        cause = f"{row.id}: {error} ({air_km:g} km in a straight line is {route_km:g} km of fiber)"
        step = "leave --site-link-optic out: a long-haul line system is then sized"
        problem = Problem("DC054", cause, Place("--site-link-km"), help=step)
        raise InputError([problem]) from error
    return _link_row(row, route_km, found)


def _refuse_unused(resolved: ResolvedFabric) -> None:
    """Refuse flags of a long-haul link for a link without one."""
    request = resolved.request
    given = {
        "--site-link-span-km": request.site_link_span_km is not None,
        "--site-link-router": request.site_link_router != type(request).site_link_router,
    }
    problems = [
        Problem(
            "DC050",
            "the site link is short enough for metro optics, which this flag does not change",
            Place(flag),
            help="--site-link-optic coherent-400zr-plus for a line system with ROADMs",
        )
        for flag, is_so in given.items()
        if is_so
    ]
    if problems:
        raise InputError(problems)


def _link_row(row: Optic, route_km: float, found: Interconnect) -> specs.SiteLinkRow:
    return specs.SiteLinkRow(
        port=row.id,
        gbps=found.gbps,
        route_km=route_km,
        links=found.links,
        ports=found.ports,
        fibre_pairs=found.fibre_pairs,
        amplifiers=found.amplifiers,
        capex_usd=found.capex_usd,
        lease_usd_per_year=found.lease_usd_per_year,
        power_kw=found.power_kw,
        rtt_us=found.rtt_us,
    )

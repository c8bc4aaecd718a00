"""Tables of a long-haul link between sites: its parts, and the coherent signals compared."""

from __future__ import annotations

from dcplan.inputs.links.facts import LinkAsk
from dcplan.inputs.links.long_haul import (
    LinkOption,
    LinkPart,
    RefusedSignal,
    link_options,
    option_rtt_us,
)
from dcplan.inputs.log import InputLog
from dcplan.result import Table
from dcplan.specs.fabric import use as specs


def answer(ask: LinkAsk, log: InputLog) -> tuple[dict[str, Table], specs.SiteLinkRow]:
    """Return the tables of a long-haul link and its row among the site links.

    Raises
    ------
    InputError
        When no coherent signal serves the route.
    """
    options, refused = link_options(ask, log)
    best = options[0]
    tables = {
        "site_link_parts": specs.SITE_LINK_PARTS.table(_part_row(x) for x in best.parts if x.count),
        "site_link_options": specs.SITE_LINK_OPTIONS.table(
            [*map(_option_row, options), *map(_refused_row, refused)]
        ),
    }
    return tables, _link_row(best, ask, log)


def _refused_row(signal: RefusedSignal) -> specs.SiteLinkOptionRow:
    rate = signal.row.rate_gbps.value
    return specs.SiteLinkOptionRow(
        signal.row.id, rate, signal.reach_km, spans=signal.spans, why_not=signal.why
    )


def _part_row(line: LinkPart) -> specs.SiteLinkPartRow:
    return specs.SiteLinkPartRow(
        item=line.item,
        part=line.part,
        count=line.count,
        power_kw=line.kw,
        usd=line.usd,
        low_usd=line.low_usd,
        high_usd=line.high_usd,
        price=line.status,
    )


def _option_row(option: LinkOption) -> specs.SiteLinkOptionRow:
    found = option.found
    return specs.SiteLinkOptionRow(
        port=option.row.id,
        wavelength_gbps=option.row.rate_gbps.value,
        reach_km=option.reach_km,
        spans=found.spans,
        regenerations=found.sections - 1,
        wavelengths=found.wavelengths,
        fibre_pairs=found.fibre_pairs,
        capex_usd=option.usd,
        lease_usd_per_year=option.usd_per_year,
        ten_years_usd=option.ten_years_usd,
        power_kw=option.kw,
    )


def _link_row(option: LinkOption, ask: LinkAsk, log: InputLog) -> specs.SiteLinkRow:
    found = option.found
    return specs.SiteLinkRow(
        port=option.row.id,
        gbps=found.gbps,
        route_km=ask.route_km,
        links=found.wavelengths,
        ports=found.ports,
        fibre_pairs=found.fibre_pairs,
        amplifiers=found.amplifiers,
        capex_usd=option.usd,
        lease_usd_per_year=option.usd_per_year,
        power_kw=option.kw,
        rtt_us=option_rtt_us(option, ask, log),
    )

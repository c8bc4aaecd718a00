"""Data of a comparison's conventions: lines left out, own lines, own energy, inputs from others."""

from __future__ import annotations

import math
from collections.abc import Iterator

from dcplan.answers.tco.comparison import Comparison
from dcplan.answers.tco.conventions import GOODPUT, OWNED, RENTED, RESIDUAL, owned_name
from dcplan.answers.tco.rented import NAMES
from dcplan.catalog.schema import Offer
from dcplan.economics.cash_flow import AssetClass
from dcplan.economics.monthly.side import Line
from dcplan.errors import AuditError
from dcplan.inputs.cloud_prices import LENGTHS
from dcplan.report.book.data.facts import SAME
from dcplan.report.book.data.term import REFERENCE, number, read
from dcplan.result import Table
from dcplan.specs.plan import tco_book as specs
from dcplan.specs.plan.book import ComputedRow
from dcplan.units import HOURS_PER_MONTH, MONTHS_PER_QUARTER

OWN_SIDE, RENT_SIDE = OWNED.removesuffix("."), RENTED.removesuffix(".")
HOURS_KEY, WORK_KEY = "comparison.hours_per_month", "comparison.accelerator_hours"


def left_out_rows(both: Comparison, flows: Table) -> Iterator[specs.LeftOutRow]:
    """Yield the lines of each side that do not count."""
    conventions, given = both.conventions, both.question.scenario.comparison
    planned = {Line(str(x["line"]), AssetClass(str(x["asset"]))) for x in flows.records()}
    names = {line.label: owned_name(line) for line in sorted(planned, key=lambda x: x.label)}
    names |= {own.id: own.id for own in (given.lines if given is not None else ())}
    names |= {name: name for name in (GOODPUT, RESIDUAL)}
    for label, name in names.items():
        if not conventions.counts_owned(name):
            yield specs.LeftOutRow(OWN_SIDE, label)
    for line, name in NAMES.items():
        if not conventions.counts_rented(name):
            yield specs.LeftOutRow(RENT_SIDE, line.label)


def own_line_rows(both: Comparison) -> Iterator[specs.OwnLineRow]:
    """Yield the own cost lines of the owned side that count."""
    given = both.question.scenario.comparison
    for line in given.lines if given is not None else ():
        if both.conventions.counts_owned(line.id):
            keys = (
                f"comparison.lines.{line.id}.{name}" if getattr(line, name) is not None else None
                for name in (
                    "usd",
                    "usd_per_month",
                    "usd_per_accelerator_hour",
                    "units",
                    "share_frac",
                )
            )
            yield specs.OwnLineRow(line.id, *keys)


def energy_rows(both: Comparison) -> Iterator[specs.SiteEnergyRow]:
    """Yield the sites whose energy counts by own hours, own power or tiers; none without them."""
    given = both.question.scenario.comparison
    own = given is not None and given.average_accelerator_kw is not None
    hours = given is not None and given.hours_per_month is not None
    if own or hours or any(site.energy.tiers for site in both.question.scenario.sites):
        for energy in both.fleet.energy:
            yield specs.SiteEnergyRow(energy.site, own and energy.site == both.fleet.site)


def tier_rows(both: Comparison) -> Iterator[specs.TierRow]:
    """Yield the tiers of each tariff, the first one first."""
    for site in both.question.scenario.sites:
        for i, tier in enumerate(site.energy.tiers):
            key = f"sites.{site.id}.energy.tiers[{i}]"
            end = f"{key}.up_to_mwh_per_month" if tier.up_to_mwh_per_month is not None else None
            yield specs.TierRow(site.id, f"{key}.usd_per_kwh", end)


def computed_rows(both: Comparison) -> list[ComputedRow]:
    """Return the inputs that follow from others by the conventions, each with its formula.

    Raises
    ------
    AuditError
        When a formula does not give the number of the answer.
    """
    rows, found = both.log.rows, []

    def value(key: str) -> float:
        return float(rows[key].value)

    for key, text in _formulas(both):
        if key not in rows:
            continue
        worth = read(text, lambda name: number(value(name)), lambda name: number(value(name))).value
        if not math.isclose(worth, value(key), rel_tol=SAME):
            msg = f"the workbook has {worth!r} for {key}, but the answer has {value(key)!r}: {text}"
            raise AuditError(msg)
        found.append(ComputedRow(key, text))
    return found


def inputs_of(text: str) -> set[str]:
    """Return the keys of the inputs of a formula.

    Examples
    --------
    >>> sorted(inputs_of("MIN([work.hours] / (8 * [sites.a.tiers[0].mwh]), 1)"))
    ['sites.a.tiers[0].mwh', 'work.hours']
    """
    return {match[1] for match in REFERENCE.finditer(text) if match[1]}


def _formulas(both: Comparison) -> Iterator[tuple[str, str]]:
    """Yield key and formula of the inputs that a comparison computes from others."""
    question, given = both.question, both.question.scenario.comparison
    hours = f"[{HOURS_KEY}]" if HOURS_KEY in both.log.rows else repr(HOURS_PER_MONTH)
    if WORK_KEY in both.log.rows:
        months = question.scenario.horizon.quarters * MONTHS_PER_QUARTER
        each = both.work.accelerators * months
        yield "fleet.utilization_frac", f"MIN([{WORK_KEY}] / ({each} * {hours}), 1)"
    for site in question.scenario.sites:
        if site.energy.tiers:
            key = f"sites.{site.id}.energy"
            yield f"{key}.usd_per_kwh", f"[{key}.tiers[0].usd_per_kwh]"
    for quote in given.rents if given is not None else ():
        row = question.catalog.get("cloud", quote.id, Offer).id
        for i, paid in enumerate(quote.commitments):
            months = LENGTHS[paid.term] * MONTHS_PER_QUARTER
            key = f"comparison.rents.{quote.id}.commitments[{i}]"
            parts = [f"[{key}.upfront_usd]"] if paid.upfront_usd is not None else []
            parts += [f"{months} * [{key}.usd_per_month]"] if paid.usd_per_month is not None else []
            price = f"cloud.{row}.{paid.term.replace('-', '_')}_usd_per_h"
            yield price, f"({' + '.join(parts)}) / ({months} * {hours})"

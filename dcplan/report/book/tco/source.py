"""A comparison's result in the form that its workbook needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dcplan.economics.cash_flow import EQUIPMENT, AssetClass
from dcplan.report.book.data.term import Array, Term
from dcplan.report.book.source import Source, source_from
from dcplan.result import Cell, Result
from dcplan.specs.plan import tco_book as specs
from dcplan.specs.plan.money import Falls
from dcplan.specs.plan.tco_book import BookTerm
from dcplan.units import MONTHS_PER_QUARTER, MONTHS_PER_YEAR, quarter_index, quarter_name

NEEDED = ("book_facts", "book_amounts", "book_live", *(t.name for t in (
    specs.FLOWS, specs.TERMS, specs.WRITE_OFF, specs.LEFT, specs.RENTS, specs.PARTS, specs.HOURS,
    specs.LEFT_OUT, specs.OWN_LINES, specs.SITE_ENERGY, specs.TIERS,
)))  # fmt: skip


CHOICES = ("finance.", "comparison.")
"""Starts of the keys of choices that a workbook lists."""


@dataclass(frozen=True)
class Axis:
    """Months of the workbook: those of the horizon, and those with payments before or after it."""

    first: str
    """First quarter of the horizon."""
    months: Array
    """Months from the start of the horizon, counted from 0; negative before it."""
    horizon: int
    """Months of the horizon."""

    @property
    def names(self) -> tuple[str, ...]:
        """Calendar months, such as 2027-01."""
        start = quarter_index(self.first) * MONTHS_PER_QUARTER
        found = (start + int(m) for m in self.months)
        return tuple(
            f"{quarter_name(x // MONTHS_PER_QUARTER)[:4]}-{x % MONTHS_PER_YEAR + 1:02d}"
            for x in found
        )

    @property
    def inside(self) -> Array:
        """1 in the months of the horizon, else 0."""
        return np.where((self.months >= 0) & (self.months < self.horizon), 1.0, 0.0)

    @property
    def years(self) -> int:
        """Years of the horizon; the last may be shorter."""
        return -(-self.horizon // MONTHS_PER_YEAR)


@dataclass(frozen=True)
class Conventions:
    """How a comparison counts: parts of rents, lines left out, own lines and own energy."""

    parts: Sequence[specs.PartRow] = ()
    left_out: frozenset[tuple[str, str]] = frozenset()
    """Side and line of those that do not count."""
    own_lines: Sequence[specs.OwnLineRow] = ()
    energy: Sequence[specs.SiteEnergyRow] = ()
    tiers: Sequence[specs.TierRow] = ()

    def counts(self, side: str, line: str) -> bool:
        """Return whether a line of the owned or the rented side counts."""
        return (side, line) not in self.left_out


NO_CONVENTIONS = Conventions()


@dataclass(frozen=True)
class TcoSource:
    """All data of the workbook of a comparison."""

    base: Source
    """Facts of the owned fleet, and the inputs that formulas use."""
    result: Result
    """The result with all inputs of the answer."""
    axis: Axis
    terms: Mapping[BookTerm, specs.TermRow]
    write_off: Mapping[bool, Array]
    """Tax write-off by year after purchase, of equipment and of buildings."""
    tables: Mapping[bool, str]
    """Names of these depreciation tables."""
    left: Array
    """Resale value of equipment over its price, by month of age."""
    rents: Sequence[specs.RentRow]
    hours: Mapping[tuple[str, str], Sequence[specs.HoursRow]]
    """Months with one price, by rent and part."""
    delivered: Mapping[tuple[str, str], Mapping[int, int]] = field(default_factory=dict)
    """With payment terms: quarter in service by line and site, and quarter of the order."""
    earlier: Sequence[specs.EarlierRow] = ()
    """Book value of hardware in service before the plan, by month of the horizon."""
    conventions: Conventions = NO_CONVENTIONS
    advances: Mapping[tuple[str, AssetClass], Array] = field(default_factory=dict)
    """What was paid before the plan, by line and class, in the month of the payment of the rest."""
    site_terms: Mapping[str, Mapping[BookTerm, specs.SiteTermRow]] = field(default_factory=dict)
    """Rates of the sites with rates of their own."""

    def parts(self, rent: str) -> list[specs.PartRow]:
        """Return the terms of a rent."""
        return [row for row in self.conventions.parts if row.rent == rent]

    def input(self, key: str) -> Term:
        """Return the cell of an input."""
        return self.base.inputs[key]

    def given(self, term: BookTerm, site: str = "") -> Term | float | None:
        """Return the cell of a term's input, its fixed value, or None without it.

        A site with rates of its own has its own terms.
        """
        row = self.row(term, site)
        if row is None:
            return None
        return self.input(row.input) if row.input else row.value

    def row(self, term: BookTerm, site: str = "") -> specs.TermRow | specs.SiteTermRow | None:
        """Return the row of a term, of all sites or of one with rates of its own."""
        return self.site_terms[site].get(term) if site else self.terms.get(term)


def site_terms_of(result: Result) -> dict[str, dict[BookTerm, specs.SiteTermRow]]:
    """Return the rates of the sites with rates of their own; empty without any."""
    table = result.tables.get(specs.SITE_TERMS.name)
    found: dict[str, dict[BookTerm, specs.SiteTermRow]] = {}
    for row in specs.SITE_TERMS.rows(table) if table is not None else ():
        found.setdefault(row.site, {})[BookTerm(row.term)] = row
    return found


def is_comparison(result: Result) -> bool:
    """Return whether a result has the data of a workbook of formulas."""
    return all(name in result.tables for name in NEEDED)


def tco_source(result: Result) -> TcoSource:
    """Read the tables of a comparison.

    Raises
    ------
    ValueError
        When the result has no comparison of a fleet, or is redacted.
    """
    if not is_comparison(result):
        msg = "this result of tco has no data of a workbook of formulas: run dcplan tco again"
        raise ValueError(msg)
    tables = result.tables
    flows = tables[specs.FLOWS.name].records()
    hours: dict[tuple[str, str], list[specs.HoursRow]] = defaultdict(list)
    for hour in specs.HOURS.rows(tables[specs.HOURS.name]):
        hours[hour.rent, hour.part].append(hour)
    terms = {BookTerm(row.term): row for row in specs.TERMS.rows(tables[specs.TERMS.name])}
    left = [row.left_frac for row in specs.LEFT.rows(tables[specs.LEFT.name])]
    axis = _axis(flows, len(left) - 1, terms, hours)
    quarters = [
        quarter_name(quarter_index(axis.first) + t)
        for t in range(axis.horizon // MONTHS_PER_QUARTER)
    ]
    write_off, names = write_offs(result, axis.years)
    return TcoSource(
        source_from(with_used_inputs(result), flows, quarters),
        result,
        axis,
        terms,
        write_off,
        names,
        np.array(left),
        list(specs.RENTS.rows(tables[specs.RENTS.name])),
        hours,
        conventions=Conventions(
            list(specs.PARTS.rows(tables[specs.PARTS.name])),
            frozenset(
                (row.side, row.line) for row in specs.LEFT_OUT.rows(tables[specs.LEFT_OUT.name])
            ),
            list(specs.OWN_LINES.rows(tables[specs.OWN_LINES.name])),
            list(specs.SITE_ENERGY.rows(tables[specs.SITE_ENERGY.name])),
            list(specs.TIERS.rows(tables[specs.TIERS.name])),
        ),
        advances=advances_of(flows, axis),
        site_terms=site_terms_of(result),
    )


def advances_of(
    flows: Iterable[Mapping[str, Cell]], axis: Axis
) -> dict[tuple[str, AssetClass], Array]:
    """Return what was paid before the plan, by line and class of the payments."""
    first = quarter_index(axis.first)
    found: dict[tuple[str, AssetClass], Array] = {}
    for row in flows:
        usd = float(row.get("advance_usd") or 0.0)
        if usd:
            month = (quarter_index(str(row["quarter"])) - first) * MONTHS_PER_QUARTER
            key = str(row["line"]), AssetClass(str(row["asset"]))
            values = found.setdefault(key, np.zeros(len(axis.months)))
            values += usd * (axis.months == month)
    return found


def write_offs(result: Result, years: int) -> tuple[dict[bool, Array], dict[bool, str]]:
    """Return the tax write-off by year and the table's name, of equipment and of buildings."""
    shares: dict[bool, list[float]] = {False: [], True: []}
    names: dict[bool, str] = {}
    for year in specs.WRITE_OFF.rows(result.tables[specs.WRITE_OFF.name]):
        shares[bool(year.building)].append(year.written_off_frac)
        names[bool(year.building)] = year.table
    return {k: _for_years(x, years) for k, x in shares.items()}, names


def with_used_inputs(result: Result) -> Result:
    """Return the result with the inputs that formulas use, and choices."""
    used = {str(row["key"]) for row in result.tables["book_live"].records()}
    rows = [
        row
        for row in result.inputs
        if row["key"] in used
        or (isinstance(row["value"], str) and str(row["key"]).startswith(CHOICES))
    ]
    return replace(result, inputs=rows)


def _for_years(shares: list[float], years: int) -> Array:
    return np.array((shares + [0.0] * years)[:years])


def _axis(
    flows: Sequence[Mapping[str, Cell]],
    months: int,
    terms: Mapping[BookTerm, specs.TermRow],
    hours: Mapping[tuple[str, str], Sequence[specs.HoursRow]],
) -> Axis:
    """Return the months of all payments: deposits come before, commitments may end after."""

    def term(name: BookTerm) -> int:
        return int(terms[name].value) if name in terms else 0

    first = min(quarter_index(str(row["quarter"])) for row in flows)
    bought = [
        (quarter_index(str(row["quarter"])) - first) * MONTHS_PER_QUARTER
        for row in flows
        if row["asset"] in EQUIPMENT and row["falls"] != Falls.END
    ]
    ends = [row.last_month + 1 for rows in hours.values() for row in rows]
    early = min(0, min(bought, default=0) - term(BookTerm.DEPOSIT_MONTHS))
    late = max(bought, default=0) + term(BookTerm.ACCEPTANCE_MONTHS) + 1
    until = max(months, late, *ends)
    return Axis(quarter_name(first), np.arange(early, until, dtype=np.float64), months)

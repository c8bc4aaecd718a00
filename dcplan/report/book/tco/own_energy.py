"""Energy of the owned side by own hours, own power or tiers, and own cost lines."""

from __future__ import annotations

from dcplan.answers.tco.conventions import OWNED as OWNED_SIDE
from dcplan.report.book.cost import bought_mwh
from dcplan.report.book.data.term import (
    Operand,
    Term,
    absolute,
    added,
    dot,
    largest,
    number,
    smallest,
    when,
)
from dcplan.report.book.grid import NOWHERE, Row
from dcplan.report.book.source import placements
from dcplan.report.book.tco.book import Book
from dcplan.report.book.tco.terms import flag, picked
from dcplan.specs.plan.tco_book import BookTerm, OwnLineRow, SiteEnergyRow
from dcplan.units import HOURS_PER_MONTH, KW_PER_MW, MONTHS_PER_QUARTER

EACH_MONTH = "each month of its quarter, from Calc_Power"
HALF, FULL, LOW = 0.5, 1.0, 0.25
"""The answer computes the cost of energy at full use, or at a low one where use is above a half."""


def counts(book: Book, line: str) -> bool:
    """Return whether a line of the owned side counts in a comparison."""
    return book.source.conventions.counts(OWNED_SIDE.removesuffix("."), line)


def own_energy(book: Book, label: str) -> Row:
    """Write the energy of all sites by own hours, own power or tiers, as a line of the owned side."""
    book.calc.power.heading("Energy of a month by own hours, own power or tiers")
    used = _term(book, BookTerm.UTILIZATION)
    usd = _usd_of_month(book, used, "")
    term = picked(usd, book.rows["quarter"])
    return book.keep(
        "own energy", book.own.line(label, (book.side, "grid-energy", EACH_MONTH), "USD", term)
    )


def own_lines(book: Book) -> list[Row]:
    """Write the own cost lines."""
    return [_own_line(book, row) for row in book.source.conventions.own_lines]


def _own_line(book: Book, row: OwnLineRow) -> Row:
    parts: list[Term] = []
    if row.month_input:
        parts.append(book.source.input(row.month_input))
    if row.hour_input:
        count = book.needed(book.own, BookTerm.ACCELERATORS)
        hours = book.needed(book.own, BookTerm.MONTH_HOURS)
        parts.append(count * hours * book.source.input(row.hour_input))
    each = book.inside * added(parts)
    if row.once_input:
        first = flag(absolute(book.rows["month"]) <= 0)
        each = each + first * book.source.input(row.once_input)
    for key in filter(None, (row.units_input, row.share_input)):
        each = each * book.source.input(key)
    rule = (book.side, "", "own line of the comparison, from Inputs")
    return book.own.line(row.line, rule, "USD", each)


def _term(book: Book, name: BookTerm) -> Row:
    """Return the value of a term on the sheet of power."""
    return book.needed(book.calc.power, name)


def _usd_of_month(book: Book, used: Operand, note: str) -> Row:
    """Write the cost of a month by quarter, of all sites at a share of used hours."""
    c = book.calc
    found = []
    for site in book.source.conventions.energy:
        key = (site.site, "", note)
        kwh = c.power.line("energy of a month", key, "kWh", _kwh(book, site, used), total=False)
        found.append(
            c.power.line("cost of a month", key, "USD", _priced(book, site.site, kwh), total=False)
        )
    rule = ("", "", note or "all sites")
    return c.power.line("cost of a month, all sites", rule, "USD", added(found), total=False)


def _kwh(book: Book, site: SiteEnergyRow, used: Operand) -> Term:
    """Return the energy of a month that the tariff bills, by quarter."""
    c, here = book.calc, (site.site, "", "")
    hours = _term(book, BookTerm.MONTH_HOURS)
    if site.own_power:
        halls = [
            row
            for (name, key), row in c.rows.items()
            if name == "hall it" and key[0].partition("/")[0] == site.site
        ]
        it, facility = added(halls), c.rows["site hall mwh", here]
        pue = when(it > 0, facility / it, 1)
        count, kw = _term(book, BookTerm.ACCELERATORS), _term(book, BookTerm.OWN_POWER)
        return count * used * hours * kw * pue
    mwh = bought_mwh(c, site.site)
    now = _term(book, BookTerm.UTILIZATION)
    if used is not now:
        mwh = mwh + full_use_mwh(book, site.site) * (used - now)
    return mwh * KW_PER_MW / MONTHS_PER_QUARTER * hours / HOURS_PER_MONTH


def _priced(book: Book, site: str, kwh: Row) -> Term:
    """Price the energy of a month: each tier at its own price, or all at the price of the quarter."""
    c = book.calc
    tiers = [row for row in book.source.conventions.tiers if row.site == site]
    if not tiers:
        return kwh * c.fact("usd_per_kwh", (site, "", ""))
    parts, start = [], number(0.0)
    for tier in tiers:
        end = book.source.input(tier.end_input) * KW_PER_MW if tier.end_input else None
        most = kwh.term() if end is None else smallest(kwh, end)
        parts.append(largest(most - start, 0) * book.source.input(tier.price_input))
        start = end if end is not None else start
    level = c.facts.get(("price_level", NOWHERE))
    return added(parts) if level is None else added(parts) * level


def full_use_mwh(book: Book, site: str) -> Term:
    """Return the facility energy of a quarter that full use adds to idle at a site."""
    c, parts = book.calc, []
    for key in placements(c.source):
        if key[0].partition("/")[0] != site:
            continue
        added_kw = c.fact("training_kw", key) - c.fact("idle_kw", key)
        mwh = c.decision("racks", key) * added_kw * c.fact("hours") / KW_PER_MW
        parts.append(mwh * c.cooled("pue", key))
    return added(parts)


def own_slope(book: Book) -> Term:
    """Return the present cost of energy per share of used hours, between now and another share.

    The other share is the one of the answer: full use, or a low one where use is above a half.
    """
    energy = book.rows.get("own energy")
    if energy is None:
        return number(0.0)
    used = _term(book, BookTerm.UTILIZATION)
    rule = ("", "", "another share, for the cost of energy by use")
    there = book.calc.power.fact("utilization", rule, "fraction", when(used <= HALF, FULL, LOW))
    usd = _usd_of_month(book, there, "at the other share of use")
    months = book.own.line(
        "energy at the other share of use",
        (book.side, "", EACH_MONTH),
        "USD",
        picked(usd, book.rows["quarter"]),
    )
    factors = book.rows["after-tax factor"].span()
    return (dot(months.span(), factors) - dot(energy.span(), factors)) / (there - used)

"""Break-even by month and by utilization, and the curves of cumulative cost."""

from __future__ import annotations

import numpy as np

from dcplan.answers.tco.conventions import RESIDUAL
from dcplan.economics.cash_flow import CAPITAL, EQUIPMENT
from dcplan.report.book.data.term import Term, added, dot, number, power, sum_of, when
from dcplan.report.book.grid import NOWHERE, Row, Sheet
from dcplan.report.book.source import placements
from dcplan.report.book.tco.book import Book
from dcplan.report.book.tco.own import ENERGY, THIRDS
from dcplan.report.book.tco.own_energy import counts, full_use_mwh, own_slope
from dcplan.report.book.tco.terms import ahead, flag, picked, summed_where
from dcplan.specs.plan.tco_book import BookTerm, Paid
from dcplan.units import KW_PER_MW, MONTHS_PER_QUARTER, MONTHS_PER_YEAR

SHARE_TOLERANCE = 1e-9
"""Share of the fleet below which the rest of a mix is nothing."""


def even_sheet(book: Book) -> None:
    """Write the resale value by month, and the break-even of each rent."""
    own_curve(book)
    for name in book.rents:
        _rent(book, name)


def own_curve(book: Book) -> Row:
    """Write the resale value by month, and the present cost if all is sold at that month."""
    sheet = book.even
    sheet.heading(book.side.capitalize())
    rule = ("", "", "end of the month")
    factor = power(1 + book.rows["rate"], -book.rows["age"] / MONTHS_PER_YEAR)
    book.keep("even factor", sheet.line("discount factor", rule, "", factor, total=False))
    own = _from_today(book, book.side)
    resale = _resale(book)
    spent = _present(book, book.side, own)
    worth = sheet.line(
        "present value of the resale",
        (book.side, "", "less what is still owed"),
        "USD",
        resale * book.rows["even factor"],
        total=False,
    )
    rule = (book.side, "", "cumulative less resale")
    return book.keep(
        "curve owned",
        sheet.line("present cost if sold at this month", rule, "USD", spent - worth, total=False),
    )


def _from_today(book: Book, side: str) -> Row:
    """Write the cash of a side from today on; payments before count today, later ones last."""
    sheet, axis = book.even, book.source.axis
    cash, month, k = book.rows[f"{side} flow"], book.rows["month"], book.rows["age"]
    term = summed_where(month, k - 1, cash)
    early, late = int((axis.months < 0).sum()), int((axis.months >= axis.horizon).sum())
    count = len(axis.months)
    if early:
        rule = (side, "", "1 where the payments before the horizon count")
        today = sheet.frozen("today", rule, "", 1.0 * (k.values == 0), "derived", total=False)
        term = term * (1 - today) + today * sum_of(cash.span(0, early))
    if late:
        rule = (side, "", "1 where the payments after the horizon count")
        mark = 1.0 * (k.values == axis.horizon)
        last = sheet.frozen("last month", rule, "", mark, "derived", total=False)
        after = last * sum_of(cash.span(count - late, count))
        rule = (side, "", "payments after the horizon, in its last month")
        term = term + book.keep(f"{side} late", sheet.line("late cash out", rule, "USD", after))
    rule = (side, "", "counted at the end of the month")
    return book.keep(f"{side} from today", sheet.line("cash out", rule, "USD", term))


def _present(book: Book, side: str, cash: Row) -> Row:
    """Write the cumulative present cost of a side."""
    row = book.even.line("present value", (side, "", ""), "USD", cash * book.rows["even factor"])
    label = "cumulative present cost"
    return book.keep(
        f"curve {side}", book.even.line(label, (side, "", ""), "USD", row.so_far(), total=False)
    )


def _resale(book: Book) -> Row:
    """Write the resale value of all purchases at the end of each month, less what is still owed."""
    sheet, k = book.even, book.rows["age"]
    month = book.rows["month"].values
    parts = []
    for row, asset in book.capital.items():
        if asset not in CAPITAL or not counts(book, RESIDUAL):
            continue
        for at in np.flatnonzero(row.values):
            first = int(month[at])
            price = Term(float(row.values[at]), lambda t, row=row, at=at: row.at(int(at)))  # type: ignore[misc]
            if asset in EQUIPMENT:
                share = picked(book.rows["left"], k - first + 1) * flag(k > first)
            else:
                end = book.ends.get(row.label)
                last = end / row.cell if end is not None else number(0.0)
                n = max(book.source.axis.horizon - first, 1)
                share = flag(k > first) * (1 - (1 - last) * (k - first) / n)
            rule = (book.side, asset.value, f"paid in month {first}")
            parts.append(sheet.line(f"resale {row.label}", rule, "USD", price * share, total=False))
    lost = book.rows.get(f"{book.own.name} {BookTerm.LOST_OWNED}")
    value = added([*parts, *_kept(book)])
    if lost is not None:
        value = value * (1 + lost)
    balance = book.rows.get("balance")
    if balance is not None:
        value = value - summed_where(book.rows["month"], k - 1, balance)
    due = book.rows.get("acceptance due")
    if due is not None:
        later = summed_where(book.rows["month"], k - 1, due) * flag(
            k <= book.source.axis.horizon - 1
        )
        value = value - (later if lost is None else later * (1 + lost))
    rule = (book.side, "", "with the share of lost goodput, less what is still owed")
    return sheet.line("resale value", rule, "USD", value, total=False)


def _kept(book: Book) -> list[Term]:
    """Return the value at the end of what was there before: every option keeps it until then."""
    if not book.with_rent:
        return []
    bought = {row.label for row, asset in book.capital.items() if np.any(row.values)}
    return [end.cell for label, end in book.ends.items() if label not in bought]


def _rent(book: Book, name: str) -> None:
    """Write the break-even of one rent."""
    sheet, n = book.even, book.source.axis.horizon
    sheet.heading(name)
    spent = _present(book, name, _from_today(book, name))
    lead = sheet.line(
        "advantage of owning",
        (name, "", "rent less owned, if sold at this month"),
        "USD",
        spent - book.rows["curve owned"],
        total=False,
    )
    owned, rented = book.rows["owned npv"], book.rows[f"{name} npv"]
    found = months_ahead(sheet, name, lead, when(owned <= rented, n, -1))
    rule = (name, "", "linear inside the month; -1: never")
    book.keep(f"{name} months", sheet.fact("break-even", rule, "months", found))
    _utilization(book, name)


def months_ahead(sheet: Sheet, name: str, lead: Row, never: Term | float) -> Term:
    """Return the months from which a lead by month stays at or above zero, linear inside a month."""
    n = len(lead.values) - 1
    stays = np.logical_and.accumulate(lead.values[::-1] >= 0)[::-1] * 1.0
    rule = (name, "", "1 from the month on in which owning stays ahead")
    row = sheet.line("stays ahead", rule, "", Term(stays, str), total=False)
    row.formula = flag(lead >= 0) * ahead(row, 1.0)
    first = sheet.fact("first such month", (name, "", ""), "", n + 1 - sum_of(row.span()))
    place = Term(min(first.value, n), lambda t: f"MIN({first.cell.text()}, {n})")
    at, last = picked(lead, place + 1), picked(lead, place)
    return when(first > n, never, when(first > 0, first - at / (at - last), 0))


def energy_slope(book: Book) -> None:
    """Write the present cost of the energy that full use adds to idle, if use is an input."""
    given = book.source.terms[BookTerm.UTILIZATION].input
    if given is None:
        return
    c, sheet = book.calc, book.own
    c.power.heading("Energy that full use adds to idle")
    sheet.heading("Energy that full use adds to idle")
    own = bool(book.source.conventions.energy) or not counts(book, ENERGY)
    worth = own_slope(book) if own else _plan_slope(book)
    lost = book.rows.get(f"{sheet.name} {BookTerm.LOST_OWNED}")
    worth = worth * (1 + lost) if lost is not None else worth
    rule = (book.side, "", "after tax, with the share of lost goodput")
    book.keep("energy slope", sheet.fact("present cost of this energy", rule, "USD", worth))


def _plan_slope(book: Book) -> Term:
    """Return the present cost of this energy at the hours and the tariff of the plan."""
    c = book.calc
    parts = [
        full_use_mwh(book, site) * KW_PER_MW * c.fact("usd_per_kwh", (site, "", ""))
        for site in dict.fromkeys(key[0].partition("/")[0] for key in placements(c.source))
    ]
    by_quarter = c.power.line("energy that full use adds", NOWHERE, "USD", added(parts))
    months = book.own.line(
        "energy that full use adds",
        (book.side, "", THIRDS),
        "USD",
        picked(by_quarter, book.rows["quarter"]) / MONTHS_PER_QUARTER,
    )
    return dot(months.span(), book.rows["after-tax factor"].span())


def _utilization(book: Book, name: str) -> None:
    """Write the utilization above which owning costs less, for a rent paid by use."""
    slope = book.rows.get("energy slope")
    if slope is None or not _by_use(book, name):
        return
    sheet, used = book.even, book.rows[f"{book.rent.name} {BookTerm.UTILIZATION}"]
    hourly = book.rows[f"{name} hourly"]
    per = dot(hourly.span(), book.rows["after-tax factor"].span()) / used
    each = sheet.fact("rent at full use", (name, "", "present cost after tax"), "USD", per)
    lead = book.rows[f"{name} npv"] - book.rows["owned npv"] - (each - slope) * used
    none = sheet.fact("advantage of owning, unused", (name, "", ""), "USD", lead)
    full = sheet.fact(
        "advantage of owning, in full use", (name, "", ""), "USD", none + (each - slope)
    )
    found = when(none >= 0, 0, when(full >= 0, -none / (each - slope), -1))
    rule = (name, "", "-1: never")
    book.keep(f"{name} use", sheet.fact("break-even utilization", rule, "fraction", found))


def _by_use(book: Book, name: str) -> bool:
    """Return whether a rent, or a part of it, is paid in proportion to use.

    A commitment is not, even where it continues on demand: then the cheapest way depends on use.
    """
    source, by_use = book.source, False
    for part in source.parts(name):
        wanted = Paid.ALL if part.months else Paid.USED
        if any(row.paid != wanted for row in source.hours[name, part.part]):
            return False
        by_use |= not part.months and part.share_frac > SHARE_TOLERANCE
    return by_use

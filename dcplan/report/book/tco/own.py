"""The owned side by month: purchases, running cost, taxes, milestones, lost goodput, end value."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from dcplan.answers.tco.conventions import RESIDUAL
from dcplan.economics.cash_flow import CAPITAL, EQUIPMENT, AssetClass, FlowGroup
from dcplan.economics.monthly.payments import DELIVERED
from dcplan.report.book.cost import AS_PLANNED
from dcplan.report.book.data.term import Term, added, largest, power, smallest, when
from dcplan.report.book.grid import Row, total
from dcplan.report.book.source import RESIDUAL_AT_END, Line
from dcplan.report.book.tco.book import Book
from dcplan.report.book.tco.own_energy import counts, own_energy, own_lines
from dcplan.report.book.tco.terms import picked, summed_where
from dcplan.specs.plan.tco_book import BookTerm
from dcplan.units import MONTHS_PER_QUARTER, MONTHS_PER_YEAR

LOST, ENERGY = "goodput loss", "energy"
AT_ONCE = (FlowGroup.CAPEX, FlowGroup.RESIDUAL)
"""Groups paid in the first month of their quarter; others are paid in thirds."""
RENT = (FlowGroup.CLOUD, FlowGroup.POST_HORIZON)
NOT_PAID = (FlowGroup.UNSERVED, RESIDUAL_AT_END)
DELIVERY = "paid in the first month of the quarter, equipment when it serves"
OTHER_SITES = "all other sites"
FIRST_MONTH, THIRDS = "paid in the first month of the quarter", "a third of the quarter"


def payments(book: Book) -> None:
    """Write purchases and running cost, and the sales tax on equipment."""
    found = _by_line(book)
    sheet = book.own
    sheet.heading("Capital")
    bought = {k: x for k, x in found.items() if k[1] in CAPITAL and counts(book, k[0])}
    for (name, asset), rows in bought.items():
        book.capital[_bought(book, name, (book.side, asset.value), rows)] = asset
    taxes = _sales_taxes(book, bought)
    if book.at_site and taxes:
        rule = (book.side, "sales-tax", "sum of the sites")
        taxes = [sheet.line("sales tax", rule, "USD", total(taxes))]
    book.capital |= dict.fromkeys(taxes, AssetClass.SALES_TAX)
    _ahead(book)
    sheet.heading("Running cost")
    own = bool(book.source.conventions.energy)
    for (name, asset), rows in found.items():
        if asset in CAPITAL or not counts(book, name) or (own and asset is AssetClass.GRID_ENERGY):
            continue
        rule = (book.side, asset.value, THIRDS)
        book.running.append(sheet.line(name, rule, "USD", _spread(book, rows)))
    if own and counts(book, ENERGY):
        book.running.append(own_energy(book, ENERGY))
    book.running += own_lines(book)


def _bought(book: Book, name: str, key: tuple[str, str], rows: list[tuple[Line, Row]]) -> Row:
    """Write the payments of purchases by month."""
    when_paid = DELIVERY if book.source.delivered else FIRST_MONTH
    term = _on_delivery(book, rows) if book.source.delivered else _spread(book, rows)
    return book.own.line(name, (*key, when_paid), "USD", term)


def _sales_taxes(
    book: Book, bought: Mapping[tuple[str, AssetClass], list[tuple[Line, Row]]]
) -> list[Row]:
    """Write the sales tax on equipment; with taxes by site, the purchases and the tax of each of them."""
    sheet, taxed = book.own, book.source.site_terms
    if not taxed:
        rate, gear = book.term(sheet, BookTerm.SALES_TAX), _gear(book)
        if rate is None or not gear:
            return []
        rule = (book.side, "sales-tax", "rate x equipment")
        return [sheet.line("sales tax", rule, "USD", rate * total(gear))]
    sheet.heading("Purchases by site, for their taxes: parts of the capital above")
    for (name, asset), rows in bought.items():
        for site in ("", *taxed):
            here = [x for x in rows if (x[0][2] if x[0][2] in taxed else "") == site]
            if here:
                label = f"{name}, {site or OTHER_SITES}"
                row = _bought(book, label, (site, asset.value), here)
                book.at_site.setdefault(site, {})[row] = asset
    found = []
    for site, parts in book.at_site.items():
        rate = book.term(sheet, BookTerm.SALES_TAX, site)
        gear = [row for row, asset in parts.items() if asset in EQUIPMENT]
        if rate is not None and gear:
            label, rule = (
                f"sales tax, {site or OTHER_SITES}",
                (site, "sales-tax", "rate x equipment"),
            )
            found.append(sheet.line(label, rule, "USD", rate * total(gear)))
            parts[found[-1]] = AssetClass.SALES_TAX
    return found


def _ahead(book: Book) -> None:
    """Write what was paid before the plan for orders, which is no payment of the plan."""
    if not book.source.advances:
        return
    book.own.heading("Paid before the plan, in the month of arrival or cancellation; no payment")
    for (name, asset), usd in book.source.advances.items():
        key = (book.side, asset.value, "as planned; basis of taxes and of the book value")
        row = book.own.frozen(f"advance of {name}", key, "USD", usd, "derived", total=True)
        book.ahead[row] = asset
        if book.source.site_terms and asset in CAPITAL:
            places = {line[2] for line in book.calc.source.assets if line[1] == name}
            (place,) = places  # an order is delivered to one hall
            site = place if place in book.source.site_terms else ""
            book.at_site.setdefault(site, {})[row] = asset


def _gear(book: Book) -> list[Row]:
    """Return the purchases of equipment."""
    return [row for row, asset in book.capital.items() if asset in EQUIPMENT]


def _by_line(book: Book) -> dict[tuple[str, AssetClass], list[tuple[Line, Row]]]:
    """Return the rows by quarter of each line and asset class, with group, line and site."""
    c = book.calc
    left_out = NOT_PAID if book.with_rent else NOT_PAID + RENT
    found: dict[tuple[str, AssetClass], list[tuple[Line, Row]]] = defaultdict(list)
    for (group, name, site), row in c.lines.items():
        base = name.removesuffix(AS_PLANNED)
        if group in left_out:
            continue
        asset = c.source.assets.get((group, base, site), AssetClass.OTHER)
        found[base, asset].append(((group, base, site), row))
    return dict(found)


def _on_delivery(book: Book, rows: list[tuple[Line, Row]]) -> Term:
    """Pay purchases in the first month of the quarter in which they serve, as payment terms do."""
    parts = []
    for (group, name, site), row in rows:
        serves = book.source.delivered.get((name, site), {})
        asset = book.calc.source.assets.get((group, name, site))
        if asset not in DELIVERED or all(t == at for t, at in serves.items()):
            parts.append(_spread(book, [((group, name, site), row)]))
            continue
        at = np.array([serves.get(t, t) + 1.0 for t in range(len(row.values))])
        key = (site, "", "quarter in service of the orders of a quarter, 1 is the first")
        dates = book.calc.decisions.frozen(f"service of {name}", key, "", at, total=False)
        parts.append(book.rows["first"] * summed_where(dates, book.rows["quarter"], row))
    return added(parts)


def _spread(book: Book, rows: list[tuple[Line, Row]]) -> Term:
    """Spread rows by quarter over months; what is paid after the horizon, in its own quarters."""
    quarter, first = book.rows["quarter"], book.rows["first"]
    later = book.rows.get("quarter with later ones", quarter)
    once = [picked(row, quarter) for (group, _, _), row in rows if group in AT_ONCE]
    thirds = [
        picked(row, later if group == FlowGroup.POST_HORIZON else quarter)
        for (group, _, _), row in rows
        if group not in AT_ONCE
    ]
    parts = [first * added(once)] if once else []
    parts += [added(thirds) / MONTHS_PER_QUARTER] if thirds else []
    return added(parts)


def property_tax(book: Book) -> None:
    """Write the property tax in the last month of each year."""
    due = book.rows.get("property tax")
    if due is not None:
        term = book.rows["year end"] * picked(due, book.rows["year"])
        rule = (book.side, "", "last month of the year; from Depreciation")
        book.running.append(book.own.line("property tax", rule, "USD", term))


def after_tax(book: Book) -> None:
    """Write income tax, milestones, lost goodput, and the totals of the owned side."""
    sheet = book.own
    sheet.heading("Taxes, milestones and lost goodput")
    paid = [*book.capital, *book.running]
    due = book.rows.get("income tax")
    if due is not None:
        term = book.rows["year end"] * picked(due, book.rows["year"])
        beyond = [row for row in book.running if np.any(row.values * (1 - book.source.axis.inside))]
        if beyond:
            rate = book.rows[f"{book.tax.name} {BookTerm.INCOME_TAX}"]
            term = term - rate * added(beyond) * (1 - book.inside)
        rule = (book.side, "", "last month of the year; from Tax")
        paid.append(sheet.line("income tax", rule, "USD", term))
        book.keep("own income tax", paid[-1])
    paid += _unserved(book)
    moved = _milestones(book)
    if moved is not None:
        paid.append(book.keep("milestones", moved))
    book.keep(
        "own subtotal", sheet.line("all lines above", (book.side, "", ""), "USD", total(paid))
    )
    loss = book.term(sheet, BookTerm.LOST_OWNED)
    if loss is not None:
        term = loss * book.rows["own subtotal"]
        lost = sheet.line(LOST, (book.side, "", "share x all lines above"), "USD", term)
        paid.append(book.keep("own lost", lost))
        term = loss * book.rows["residual"]
        rule = (book.side, "", "share x residual value")
        book.ends[LOST] = sheet.fact(f"residual {LOST}", rule, "USD", term)
    book.lines = paid
    rule = (book.side, "", "after tax, before debt")
    book.keep("own cash", sheet.line("cost of owning", rule, "USD", total(paid)))
    if moved is not None:
        term, rule = largest(-moved.so_far(), 0), (book.side, "", "of delivered equipment")
        due = sheet.line("acceptance payments to come", rule, "USD", term, total=False)
        book.keep("acceptance due", due)
    rule = (book.side, "", "money in")
    end = added(row.cell for row in book.ends.values())
    book.keep("end", sheet.fact("value at the end of the horizon", rule, "USD", end))


def after_tax_factor(book: Book) -> None:
    """Write what one dollar of running cost costs today, after the tax that it saves."""
    factor, year = book.rows["factor"], book.rows["year"]
    rate = book.rows.get(f"{book.tax.name} {BookTerm.INCOME_TAX}")
    term = factor.term()
    if rate is not None:
        end = smallest(year * MONTHS_PER_YEAR, float(book.source.axis.horizon))
        paid = power(1 + book.rows["rate"], -(end - 0.5) / MONTHS_PER_YEAR)
        term = factor - rate * when(year > 0, paid, factor)
    rule = ("", "", "tax is saved in the last month of the year")
    row = book.own.line("after-tax discount factor", rule, "", term, total=False)
    book.keep("after-tax factor", row)


def _unserved(book: Book) -> list[Row]:
    """Write the value of unserved demand, which is not taxed."""
    rows = [
        picked(row, book.rows["quarter"])
        for (group, _, _), row in book.calc.lines.items()
        if group == FlowGroup.UNSERVED
    ]
    if not rows:
        return []
    term = added(rows) / MONTHS_PER_QUARTER
    return [book.own.line("unserved demand", (book.side, "", "no payment"), "USD", term)]


def _milestones(book: Book) -> Row | None:
    """Write what payment milestones move out of the month of service."""
    sheet = book.own
    deposit, early = book.term(sheet, BookTerm.DEPOSIT), book.term(sheet, BookTerm.DEPOSIT_MONTHS)
    accepted = book.term(sheet, BookTerm.ACCEPTANCE)
    late = book.term(sheet, BookTerm.ACCEPTANCE_MONTHS)
    kinds = EQUIPMENT - {AssetClass.EXISTING}  # earlier orders have their own contracts
    if deposit is None or early is None or accepted is None or late is None:
        return None
    gross = []
    for site, parts in book.taxed.items():
        gear = [row for row, asset in parts.items() if asset in kinds]
        tax = book.term(sheet, BookTerm.SALES_TAX, site)
        if gear:
            paid = largest(total(gear), 0)
            gross.append(paid if tax is None else paid * (tax + 1))
    if not gross:
        return None
    label = "equipment with sales tax"
    bought = sheet.line(label, (book.side, "", "base of the milestones"), "USD", added(gross))
    month = book.rows["month"]
    term = (
        deposit * summed_where(month, month + early, bought)
        + accepted * summed_where(month, month - late, bought)
        - (deposit + accepted) * bought
    )
    rule = (book.side, "", "deposit before, acceptance after, less both in the month of service")
    return sheet.line("payment milestones", rule, "USD", term)


def residuals(book: Book) -> None:
    """Write the residual value at the end of the horizon, by line, as money in."""
    sheet = book.own
    sheet.heading("Residual value at the end of the horizon (money in)")
    by_line: dict[str, list[Row]] = defaultdict(list)
    for (name, _), rows in book.calc.ends.items():
        by_line[name] += rows
    for name, rows in by_line.items():
        if not counts(book, name) or not counts(book, RESIDUAL):
            continue
        rule = (book.side, "", "share left x price, by quarter of purchase")
        left = -added(x.cell for x in rows)  # the plan counts it as a negative payment
        book.ends[name] = sheet.fact(f"residual {name}", rule, "USD", left)
    rule = (book.side, "", "taxed in the last year")
    left = added(row.cell for row in book.ends.values())
    book.keep("residual", sheet.fact("residual value", rule, "USD", left))

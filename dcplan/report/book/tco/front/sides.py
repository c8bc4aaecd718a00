"""Rows of the summary: present cost and break-even of each side, the decision between them."""

from __future__ import annotations

from dcplan.report.book.data.term import Term
from dcplan.report.book.grid import Row, column
from dcplan.report.book.tco.book import Book
from dcplan.report.book.tco.data.tables import MOST_RENTS
from dcplan.report.book.writer import Writer

HEADS = (
    "Side",
    "Present cost, USD",
    "Present cost in the answer, USD",
    "Change, USD",
    "Above owned, USD",
    "Per used hour, USD/h",
    "Break-even, months",
    "Break-even utilization",
    "Break-even by cash, months",
    "Break-even, hours",
    "Return of owning, a year",
    "Payback, months",
    "Kind",
)
KIND = len(HEADS) - 1
EVENS = (
    (6, "months", "months", "months"),
    (7, "use", "utilization_frac", "fraction"),
    (8, "cash months", "cash_months", "months"),
    (9, "hours", "hours", "h"),
)
"""Column, name of the row, end of the key and unit of each break-even of a rent."""
USE_AS_EXPORTED = (
    "live; break-even utilization as exported, since rent does not rise evenly with use"
)
"""Kind of a rent in capacity blocks, or of a mix with a commitment that the horizon cuts off."""
NOT_ANSWERED = "n/a"
"""Break-even utilization of a rent that is paid in full."""
RETURN, PAYBACK = 10, 11
"""Columns of the return and the payback of owning over a rent."""
FIRST_SIDE = 10
"""Row of the first side on the summary, from 1."""


def decision(writer: Writer, book: Book, last: int, places: dict[str, Term]) -> None:
    """Write the cheapest side, what it saves over the cheapest of the others, return and payback."""
    page, bold = writer.sheets["Summary"], writer.format(bold=True)
    costs = {"owned": book.rows["owned npv"].value}
    costs |= {name: book.rows[f"{name} npv"].value for name in book.rents}
    best = min(costs, key=lambda name: costs[name])
    cells = f"B{FIRST_SIDE}:B{last}"
    page.write_string(3, 0, "Cheapest side", bold)
    found = f"=INDEX(A{FIRST_SIDE}:A{last}, MATCH(MIN({cells}), {cells}, 0))"
    page.write_formula(3, 1, found, bold, best)
    if len(costs) == 1:
        return
    page.write_string(4, 0, "Owned less the cheapest rent shown, USD", bold)
    rents = f"B{FIRST_SIDE + 1}:B{last}"
    over = costs["owned"] - min(usd for name, usd in costs.items() if name != "owned")
    page.write_formula(4, 1, f"=B{FIRST_SIDE}-MIN({rents})", writer.number("formula", "USD"), over)
    cheapest = min(book.rents, key=lambda name: book.rows[f"{name} npv"].value)
    for row, label, at, unit, made, key in (
        (5, "Return of owning over that rent", RETURN, "fraction", _return_of, "owned.irr_frac"),
        (
            6,
            "Payback over that rent, months",
            PAYBACK,
            "months",
            _payback_of,
            "owned.payback_months",
        ),
    ):
        page.write_string(row, 0, label, bold)
        cells = f"{column(at)}{FIRST_SIDE + 1}:{column(at)}{last}"
        text = f"=INDEX({cells}, MATCH(MIN({rents}), {rents}, 0))"
        _, value = made(book, cheapest)
        page.write_formula(row, 1, text, writer.number("formula", unit), value)
        if isinstance(value, float) and book.source.result.metrics[key].value is not None:
            cell = f"N(Summary!$B${row + 1})"  # 0 for a word
            places[key] = Term(value, lambda t, cell=cell: cell)  # type: ignore[misc]


def _return_of(book: Book, name: str) -> tuple[str, float | str]:
    """Return the formula and the value of the return of owning over a rent."""
    rate, count = book.rows[f"{name} irr"], book.rows[f"{name} returns"]
    text = f'=IF({count.cell.text()}=1, {rate.cell.text()}, "none")'
    return text, rate.value if count.value == 1 else "none"


def _payback_of(book: Book, name: str) -> tuple[str, float | str]:
    return _or_never(book.rows[f"{name} payback"])


def _or_never(row: Row) -> tuple[str, float | str]:
    """Return the formula and the value of a cell in which -1 is never."""
    cell = row.cell.text()
    return f'=IF({cell}<0, "never", {cell})', row.value if row.value >= 0 else "never"


def side(writer: Writer, book: Book, name: str, row: int, places: dict[str, Term]) -> None:
    """Write one side, and remember the cells of its figures."""
    page, metrics = writer.sheets["Summary"], book.source.result.metrics
    usd, at = writer.number("formula", "USD"), row - 1
    prefix = "owned" if name == "owned" else f"rented.{name}"
    npv = book.rows[f"{name} npv"]
    answer = float(metrics[f"{prefix}.npv_usd"].value or 0.0)
    page.write_string(at, 0, name)
    page.write_formula(at, 1, f"={npv.cell.text()}", usd, npv.value)
    places[f"{prefix}.npv_usd"] = _cell(npv.value, f"B{row}")
    page.write_number(at, 2, answer, writer.number("derived", "USD"))
    page.write_formula(at, 3, f"=ROUND(B{row}-C{row}, 2)", usd, round(npv.value - answer, 2))
    over = npv.value - book.rows["owned npv"].value
    page.write_formula(at, 4, f"=B{row}-B{FIRST_SIDE}", usd, over)
    hours = book.rows["used hours"]
    per = npv.value / hours.value
    text = f"=B{row}/{hours.cell.text()}"
    page.write_formula(at, 5, text, writer.number("formula", "USD/h"), per)
    places[f"{prefix}.usd_per_accelerator_hour"] = _cell(per, f"F{row}")
    exported = name != "owned" and _even(writer, book, name, row, places)
    page.write_string(at, KIND, USE_AS_EXPORTED if exported else "live")


def _even(writer: Writer, book: Book, name: str, row: int, places: dict[str, Term]) -> bool:
    """Write the break-evens of a rent, its return and payback; never and none in words.

    Returns
    -------
    bool
        Whether a break-even is as exported, because it has no formula.
    """
    as_exported = False
    page, rented = writer.sheets["Summary"], book.source.result.tables["rented"].records()
    answer = next(row for row in rented if f"{row['offer']}.{row['term']}" == name)
    for at, what, key, unit in EVENS:
        found = book.rows.get(f"{name} {what}")
        if found is None:
            exported = book.source.result.metrics[f"break_even.{name}.{key}"].value
            if isinstance(exported, int | float):  # as of capacity blocks, which cost in steps
                look = writer.number("derived", unit)
                page.write_number(row - 1, at, float(exported), look)
            else:
                page.write_string(row - 1, at, str(answer[f"break_even_{key}"]))
            as_exported |= answer[f"break_even_{key}"] != NOT_ANSWERED
            continue
        text, value = _or_never(found)
        page.write_formula(row - 1, at, text, writer.number("formula", unit), value)
        if found.value >= 0:
            places[f"break_even.{name}.{key}"] = found.cell
    for at, unit, (text, value) in (
        (RETURN, "fraction", _return_of(book, name)),
        (PAYBACK, "months", _payback_of(book, name)),
    ):
        page.write_formula(row - 1, at, text, writer.number("formula", unit), value)
    return as_exported


def _cell(value: float, address: str) -> Term:
    column, row = address[0], address[1:]
    return Term(value, lambda t: f"Summary!${column}${row}")


def others(writer: Writer, book: Book, row: int) -> int:
    """List the rents beyond the computed ones, as exported; return the next row."""
    page, table = writer.sheets["Summary"], book.source.result.tables["rented"]
    gray = writer.number("derived", "USD")
    for record in table.records():
        name = f"{record['offer']}.{record['term']}"
        if name in book.rents:
            continue
        page.write_string(row - 1, 0, name)
        page.write_number(row - 1, 1, float(record["npv_usd"] or 0.0), gray)
        page.write_string(row - 1, KIND, f"as exported: not among the {MOST_RENTS} cheapest")
        row += 1
    return row

"""Cover and summary of the workbook of sourcing options."""

from __future__ import annotations

from collections.abc import Mapping

from dcplan.report.book.data.term import Term
from dcplan.report.book.grid import Row
from dcplan.report.book.options.source import PlansSource
from dcplan.report.book.tco.book import Book
from dcplan.report.book.tco.front.cover import MEANINGS, write_cover
from dcplan.report.book.tco.front.summary import by_line
from dcplan.report.book.writer import Writer, head

HEADS = (
    "Option",
    "Present cost, USD",
    "Present cost in the answer, USD",
    "Change, USD",
    "Above the cheapest, USD",
    "Kind",
)
FIRST_OPTION = 8
"""Row of the first option, from 1."""
COVER = (
    "Each option is a plan for the same work: all owned, all rented, or the best mix (hybrid).",
    "A change of a blue cell on Inputs recomputes the payments, taxes, loan and break-even of every "
    "option.",
    "dcplan import BOOK.xlsx --kind workbook converts edited inputs to overrides of the scenario.",
    "Money is in nominal USD. Payments out are positive, in the middle of their month.",
    "Inputs that the scenario leaves out have no cell: run dcplan tco with --set to add a tax or a "
    "loan.",
)
FIXED = (
    "What each option buys and rents: racks, halls, network, accelerator-hours and commitments. After "
    "an edit, another plan may be cheaper: run dcplan tco again.",
    "PUE and water use, which the facility model computes; sales, existing hardware and plants on site.",
    "The months of payments, milestones and commitments. A residual value curve.",
    "Options with a single offer and term, in gray on Summary.",
)
"""What an edit does not change."""


def cover_page(writer: Writer, source: PlansSource) -> None:
    """Write how to use the workbook, what is fixed, and how to create it again."""
    write_cover(writer, source.result, COVER, OWN_MEANINGS, FIXED)


OWN_MEANINGS = MEANINGS | {
    "input": "Input: an edit recomputes all options",
    "decision": "Decision of the planner for an option, frozen",
}


def summary_page(
    writer: Writer, source: PlansSource, books: Mapping[str, Book], evens: Mapping[str, Row]
) -> dict[str, Term]:
    """Write the cheapest option, the present cost of each, break-evens and lines.

    Returns
    -------
    dict
        Cells of the figures, by their key in the answer.
    """
    page = writer.sheets["Summary"]
    head(writer, page, "Summary", f"As exported: {source.result.headline}")
    bold = writer.format(bold=True, bottom=1, text_wrap=True)
    for i, text in enumerate(HEADS):
        page.write_string(FIRST_OPTION - 2, i, text, bold)
    last = FIRST_OPTION + len(source.options) - 1
    cells = f"B{FIRST_OPTION}:B{last}"
    costs = {name: books[own].rows["owned npv"].value for name, own in source.options.items()}
    best = min(costs, key=lambda name: costs[name])
    page.write_string(3, 0, "Cheapest option", bold)
    text = f"=INDEX(A{FIRST_OPTION}:A{last}, MATCH(MIN({cells}), {cells}, 0))"
    page.write_formula(3, 1, text, writer.format(bold=True), best)
    places: dict[str, Term] = {}
    for i, (name, own) in enumerate(source.options.items()):
        _option(writer, source, (name, own), books, FIRST_OPTION + i, cells, places)
    at = _others(writer, source, last + 1)
    at = _evens(writer, evens, at + 1)
    by_line(writer, books, at + 2)
    page.set_column(0, 0, 44)
    page.set_column(1, max(len(HEADS), 1 + len(books)), 18)
    page.freeze_panes(FIRST_OPTION - 1, 1)
    return places


def _option(
    writer: Writer,
    source: PlansSource,
    names: tuple[str, str],
    books: Mapping[str, Book],
    row: int,
    cells: str,
    places: dict[str, Term],
) -> None:
    """Write one option, and remember the cell of its present cost."""
    page, usd, (name, own) = writer.sheets["Summary"], writer.number("formula", "USD"), names
    npv, key = books[own].rows["owned npv"], f"{name}.npv_usd"
    answer = float(source.result.metrics[key].value or 0.0)
    low = min(book.rows["owned npv"].value for book in books.values())
    page.write_string(row - 1, 0, name)
    page.write_formula(row - 1, 1, f"={npv.cell.text()}", usd, npv.value)
    page.write_number(row - 1, 2, answer, writer.number("derived", "USD"))
    page.write_formula(
        row - 1, 3, f"=ROUND(B{row}-C{row}, 2)", usd, round(npv.value - answer, 2) + 0.0
    )
    page.write_formula(row - 1, 4, f"=B{row}-MIN({cells})", usd, npv.value - low)
    page.write_string(row - 1, 5, "live" if name == own else f"live: the plan is that of {own}")
    address = f"Summary!$B${row}"
    places[key] = Term(npv.value, lambda t: address)


def _others(writer: Writer, source: PlansSource, row: int) -> int:
    """List the options without sheets, as exported; return the next row."""
    page, gray = writer.sheets["Summary"], writer.number("derived", "USD")
    for record in source.result.tables["sourcing"].records():
        name, npv = str(record["option"]), record["npv_usd"]
        if name in source.options:
            continue
        page.write_string(row - 1, 0, name)
        if isinstance(npv, int | float):
            page.write_number(row - 1, 1, float(npv), gray)
        note = str(record["note"] or "as exported: one offer and term alone")
        page.write_string(row - 1, 5, note)
        row += 1
    return row


def _evens(writer: Writer, evens: Mapping[str, Row], row: int) -> int:
    """Write the break-even of each pair of options; return the next row."""
    page, bold = writer.sheets["Summary"], writer.format(bold=True, bottom=1, text_wrap=True)
    page.write_string(row - 1, 0, "Break-even, if all is sold at this month", bold)
    page.write_string(row - 1, 1, "months", bold)
    for name, fact in evens.items():
        row += 1
        cell = fact.cell.text()
        page.write_string(row - 1, 0, name)
        value: float | str = fact.value if fact.value >= 0 else "never"
        look = writer.number("formula", "months")
        page.write_formula(row - 1, 1, f'=IF({cell}<0, "never", {cell})', look, value)
    return row + 1

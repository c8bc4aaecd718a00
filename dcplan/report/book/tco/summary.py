"""Cover, summary and chart of a comparison's workbook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dcplan.report.book.data.term import Term, added
from dcplan.report.book.grid import HEAD, Row, column
from dcplan.report.book.pages import LEGEND, add_series, write_facts
from dcplan.report.book.tco.book import Book
from dcplan.report.book.tco.data import MOST_RENTS
from dcplan.report.book.tco.source import TcoSource
from dcplan.report.book.writer import NUMBERS, Writer, head
from dcplan.report.text.numbers import in_order
from dcplan.result import Result
from dcplan.units import unit_of

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
RETURN, PAYBACK = 10, 11
"""Columns of the return and the payback of owning over a rent."""
FIRST_SIDE = 10
"""Row of the first side on the summary, from 1."""
LIVE = (
    "rented.",
    "break_even.",
    "owned.npv",
    "owned.usd_per_accelerator",
    "owned.irr",
    "owned.payback",
)
"""Starts of the keys of figures that the summary computes."""
DICTIONARY = (
    ("Present cost", "Payments less money in, discounted to the first day of the horizon"),
    ("Payments", "Positive is paid, negative is received; nominal, in the middle of their month"),
    ("Residual value", "Resale value of all purchases at the end of the horizon"),
    ("Tax write-off", "Share of the price that the tax law lets deduct in a year"),
    ("Book value", "Price less straight-line depreciation over the service life"),
    ("Goodput loss", "Cost of the additional hardware or hours that replace lost work"),
    ("Break-even, months", "Month from which owning has cost no more, if all is then sold"),
    ("Break-even utilization", "Share of used hours above which owning costs less"),
    (
        "Return of owning",
        "Rate at which the money that owning saves over a rent has no present value",
    ),
    ("Payback, months", "Month from which owning has paid no more, undiscounted, without resale"),
    ("Break-even by cash", "The same with payments after the horizon, in its last month"),
    ("Break-even, hours", "Clock hours until the saved rent equals the purchase, before tax"),
    ("PUE", "Power usage effectiveness: facility energy over IT energy"),
    ("IT", "Servers, switches and storage"),
    ("Share left", "Residual value over price, by quarter of purchase"),
    ("As exported", "Computed by dcplan in the answer; an edit of the workbook does not change it"),
)
FIXED = (
    "The number of racks, nodes per rack, halls, switches and storage blocks; PUE and water use, which "
    "the facility model computes from the climate.",
    "The months of payments, milestones and commitments.",
    "A residual value curve. A number for finance.residual is an input and can be edited.",
    "Cost of work (PFLOP-day, tokens), the risk simulation and the tornados; the break-even utilization "
    "of capacity blocks, and of a fleet without fleet.utilization_frac, in gray on Summary.",
)
"""What an edit does not change."""
COVER = (
    "A change of a blue cell on Inputs recomputes both sides, taxes, the loan and the break-even.",
    "The owned fleet keeps its racks, halls and network. If an edit would change them, run dcplan "
    "tco again.",
    "dcplan import BOOK.xlsx --kind workbook converts edited inputs to overrides of the scenario.",
    "Money is in nominal USD. Payments out are positive, in the middle of their month.",
    "Inputs that the scenario leaves out have no cell: run dcplan tco with --set to add a tax or a "
    "loan.",
)


def cover_page(writer: Writer, source: TcoSource) -> None:
    """Write how to use the workbook, what is fixed, and how to create it again."""
    write_cover(writer, source.result, COVER, MEANINGS, FIXED)


def write_cover(
    writer: Writer,
    result: Result,
    texts: Sequence[str],
    meanings: Mapping[str, str],
    fixed: Sequence[str],
) -> None:
    """Write a cover: its texts, the legend of the colors, what is fixed, and the source."""
    page = writer.sheets["Cover"]
    head(writer, page, f"dcplan tco: {result.scenario.get('name', '')}", result.headline)
    for i, text in enumerate(texts):
        page.write_string(4 + i, 0, text)
    row = 4 + len(texts) + 1
    for kind, text in LEGEND:
        page.write_string(row, 0, "1,234", writer.number(kind, "USD"))
        page.write_string(row, 1, meanings.get(kind, text))
        row += 1
    page.write_string(row + 1, 0, "An edit does not change:", writer.format(bold=True))
    for text in fixed:
        row += 1
        page.write_string(row + 1, 1, text)
    row += 2
    facts = {
        "Scenario file": result.scenario.get("path"),
        "Variant": result.scenario.get("variant"),
        "Inputs digest": result.scenario.get("inputs_sha256"),
        "Catalogs digest": result.scenario.get("catalogs_sha256"),
        "Created with": f"dcplan tco {result.scenario.get('path')} -o BOOK.xlsx",
    }
    write_facts(page, row + 1, facts)
    page.set_column(0, 0, 24)
    page.set_column(1, 1, 120)


MEANINGS = {
    "input": "Input: an edit recomputes both sides",
    "decision": "Decision of the planner for the owned fleet, frozen",
    "derived": "Value of the answer, frozen: this workbook does not recompute it",
}
"""Legend of the colors."""


def summary_page(writer: Writer, book: Book) -> dict[str, Term]:
    """Write the decision, the present cost of each side and its break-even.

    Returns
    -------
    dict
        Cells of the figures, by their key in the answer.
    """
    page, rents = writer.sheets["Summary"], list(book.rents)
    head(writer, page, "Summary", f"As exported: {book.source.result.headline}")
    bold = writer.format(bold=True, bottom=1, text_wrap=True)
    last = FIRST_SIDE + len(rents)
    places: dict[str, Term] = {}
    _decision(writer, book, last, places)
    for i, text in enumerate(HEADS):
        page.write_string(FIRST_SIDE - 2, i, text, bold)
    _side(writer, book, "owned", FIRST_SIDE, places)
    for i, name in enumerate(rents):
        _side(writer, book, name, FIRST_SIDE + 1 + i, places)
    at = _others(writer, book, last + 1)
    at = _by_line(writer, book, at + 2)
    at = _answers(writer, book, at + 2)
    page.insert_chart(at + 2, 0, _curve(writer, book))
    page.set_column(0, 0, 44)
    page.set_column(1, max(KIND, 1 + len(rents)), 17)
    page.freeze_panes(FIRST_SIDE - 1, 1)
    return places


def _decision(writer: Writer, book: Book, last: int, places: dict[str, Term]) -> None:
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


def _side(writer: Writer, book: Book, name: str, row: int, places: dict[str, Term]) -> None:
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
    if name != "owned":
        _even(writer, book, name, row, places)
    page.write_string(at, KIND, "live")


def _even(writer: Writer, book: Book, name: str, row: int, places: dict[str, Term]) -> None:
    """Write the break-evens of a rent, its return and payback; never and none in words."""
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


def _cell(value: float, address: str) -> Term:
    column, row = address[0], address[1:]
    return Term(value, lambda t: f"Summary!${column}${row}")


def _others(writer: Writer, book: Book, row: int) -> int:
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


def _by_line(writer: Writer, book: Book, row: int) -> int:
    """Write the present value of every line of every side, with totals; return the next row."""
    page, usd = writer.sheets["Summary"], writer.number("formula", "USD")
    bold = writer.format(bold=True, bottom=1, text_wrap=True)
    sides = ["owned", *book.rents]
    page.write_string(row - 1, 0, "Present value by line, USD", bold)
    for i, name in enumerate(sides, start=1):
        page.write_string(row - 1, i, name, bold)
    labels = list(dict.fromkeys(line for _, line in book.values))
    sums = dict.fromkeys(sides, 0.0)
    for n, label in enumerate(labels):
        page.write_string(row + n, 0, label)
        for i, name in enumerate(sides, start=1):
            facts = book.values.get((name, label), ())
            if facts:
                worth = added(fact.cell for fact in facts)
                page.write_formula(row + n, i, f"={worth.text()}", usd, worth.value)
                sums[name] += worth.value
    end = row + len(labels)
    page.write_string(end, 0, "Present cost", bold)
    money = writer.format(num_format=NUMBERS["USD"], bold=True, top=1)
    for i, name in enumerate(sides, start=1):
        text = f"=SUM({column(i)}{row + 1}:{column(i)}{end})"
        page.write_formula(end, i, text, money, sums[name])
    return end + 1


def _answers(writer: Writer, book: Book, row: int) -> int:
    """Write the other figures of the answer, as exported; return the next row."""
    page = writer.sheets["Summary"]
    bold = writer.format(bold=True, bottom=1)
    page.write_string(row - 1, 0, "Other figures of the answer, as exported", bold)
    for key, metric in in_order(book.source.result.metrics).items():
        if key.startswith(LIVE):
            continue
        row += 1
        page.write_string(row - 1, 0, metric.label)
        share = unit_of(key) == "fraction"
        look = writer.number("derived", "fraction" if share else metric.unit or "x")
        if isinstance(metric.value, int | float):
            page.write_number(row - 1, 1, float(metric.value), look)
        page.write_string(row - 1, 2, metric.unit)
    return row


def curve(writer: Writer, book: Book) -> None:
    """Add the chart of cumulative cost above the rows of the break-even."""
    writer.sheets[book.even.name].insert_chart(HEAD, 0, _curve(writer, book))


def _curve(writer: Writer, book: Book) -> Any:
    """Return a chart in which the owned curve crosses that of a rent at the break-even."""
    chart = writer.book.add_chart({"type": "line"})
    add_series(chart, book.rows["curve owned"], "owned, if sold at this month")
    for name in list(book.rents)[:MOST_CURVES]:
        add_series(chart, book.rows[f"curve {name}"], name)
    chart.set_title({"name": "Cumulative present cost, USD M"})
    chart.set_x_axis({"name": "months from the start", "interval_unit": 6, "interval_tick": 6})
    chart.set_y_axis({"num_format": "#,##0.0,,"})
    chart.set_legend({"position": "bottom"})
    chart.set_size({"width": 960, "height": 410})
    return chart


MOST_CURVES = 5
"""Rents in the chart, the cheapest first."""

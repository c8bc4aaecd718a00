"""Cover and dictionary of a comparison's workbook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dcplan.report.book.pages import LEGEND, write_facts
from dcplan.report.book.tco.source import TcoSource
from dcplan.report.book.writer import Writer, head
from dcplan.result import Result

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
    "Which lines comparison leaves out, and the terms of a mix; their shares are inputs.",
    "Cost of work (PFLOP-day, tokens), the risk simulation and the tornados; the break-even utilization "
    "of capacity blocks, and of a mix with a commitment that the horizon cuts off, in gray on Summary.",
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


MEANINGS = {
    "input": "Input: an edit recomputes both sides",
    "decision": "Decision of the planner for the owned fleet, frozen",
    "derived": "Value of the answer, frozen: this workbook does not recompute it",
}
"""Legend of the colors."""


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

"""Limits, assumptions and facts of an answer, as parts of a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dcplan.report.book.influence import Influence
from dcplan.report.html.figures import has_ranks
from dcplan.report.text.view import View, view
from dcplan.result import Result, Table
from dcplan.specs.plan.limits import CHECKS

NEARLY = 0.99
"""Share of a limit from which it counts as fully used."""
MOST_ROWS = 300
"""Rows of one table on the page; the rest is in the CSV export."""


@dataclass(frozen=True)
class TitledView:
    """A table as text with its heading."""

    title: str
    made: View
    more: int = 0

    @property
    def columns(self) -> tuple[str, ...]:
        """Headers of the columns."""
        return self.made.headers

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Cells as text."""
        return self.made.rows

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Which columns are aligned to the right."""
        return self.made.numeric


def titled(title: str, table: Table) -> TitledView:
    """Return the first rows of a table with its title, and how many more it has."""
    more = max(len(table.rows) - MOST_ROWS, 0)
    return TitledView(title, view(table.columns, table.rows[:MOST_ROWS]), more)


def binding(result: Result) -> tuple[TitledView, ...]:
    """Return the limits that the audited plan uses up."""
    table = result.tables.get(CHECKS.name)
    if table is None:
        return ()
    # a limit without end is empty in a saved result
    rows = [
        row
        for row in CHECKS.rows(table)
        if isinstance(row.used, int | float)
        and isinstance(row.limit, int | float)
        and 0 < row.limit * NEARLY <= row.used
    ]
    return (titled("Limits and their use", CHECKS.table(rows)),) if rows else ()


def ranked_note(result: Result) -> str:
    """Return the order of the assumptions in words."""
    if not has_ranks(result):
        return "In alphabetical order of their keys."
    return (
        "First the inputs whose bounds change the net present cost of the same decisions most, "
        "then the others by key. A new plan with the changed input would avoid a part of the change."
    )


def assumptions(result: Result, inputs: Sequence[Influence]) -> TitledView:
    """Return the inputs of an answer, those with the largest influence first."""
    swings = {x.key: x.swing_usd for x in inputs}
    ends = {x.key: (x.low, x.high) for x in inputs}
    rows = sorted(
        result.inputs, key=lambda row: (-swings.get(str(row["key"]), 0.0), str(row["key"]))
    )
    columns = ("input", "value", "low", "high", "unit", "status", "swing_usd", "source", "as_of")
    cells = tuple(
        (
            str(r["key"]),
            r["value"],
            *ends.get(str(r["key"]), (r.get("low"), r.get("high"))),
            str(r["unit"] or ""),
            str(r["status"]),
            swings.get(str(r["key"])),
            str(r.get("source") or ""),
            str(r.get("as_of") or ""),
        )
        for r in rows
    )
    return titled("Inputs", Table(columns, cells))


def limits(result: Result) -> list[str]:
    """Return the limits of the answer."""
    texts = [
        "Costs are nominal, at the middle of their quarter; "
        "the residual value at the end of the horizon is subtracted.",
        "Training time is a model fitted to public runs; every run shows its range.",
        "Inputs marked estimate have their own bounds; "
        "quotes replace them under prices: in the scenario.",
    ]
    gap = result.solver.get("gap_frac")
    if isinstance(gap, int | float):
        texts.insert(
            0,
            f"No plan of these inputs is more than {gap:.2%} cheaper: "
            "the solver proves the bound, "
            "and an audit recomputes the cost with integer racks and switches.",
        )
    return texts


def facts(result: Result) -> list[tuple[str, str]]:
    """Return the files, digests and solver behind an answer."""
    pairs = {
        "Scenario": result.scenario.get("path"),
        "Variant": result.scenario.get("variant"),
        "Inputs digest": result.scenario.get("inputs_sha256"),
        "Catalogs digest": result.scenario.get("catalogs_sha256"),
        "Solver": f"{result.solver.get('name')} {result.solver.get('version')}"
        if result.solver
        else None,
    }
    return [(key, str(value)) for key, value in pairs.items() if value]

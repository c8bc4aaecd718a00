"""Answers on a terminal: the answer first, then tables; plain aligned text when piped, never cut."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import IO

from rich.console import Console
from rich.table import Table as RichTable

from dcplan.report.numbers import is_number, limits_text, observed_text, printable, shown
from dcplan.result import Cell, Result, Table

SECTIONS = {
    "checked": "Checked",
    "plans": "Plans",
    "states": "Scenarios that came, went, or end otherwise",
    "metrics_changed": "Figures that differ",
    "inputs_changed": "Inputs that differ",
    "decisions_changed": "Decisions that differ",
    "sweep": "Point by point (all figures: -f csv)",
    "bounds": "What each input does between its bounds, the plan made anew",
    "effects": "What each axis does to the net present cost",
    "frontier": "Best of each, point by point",
    "ways": "The same work owned, rented, or both",
    "rented": "The same work rented",
    "sides": "Present value line by line: owned before its debt, and the cheapest rent",
    "tornado": "What decides: inputs at their bounds, by the swing of owned over the cheapest rent",
    "risk": "Both sides in sampled futures",
    "bridge": "From the plan's cost to the owned one",
    "years": "Cash out by year",
    "hedge": "One plan for several variants",
    "flips": "What would change a decision",
    "racks": "What to order",
    "jobs": "Training runs",
    "configs": "Ways to run each job",
    "tiers": "Switches by tier",
    "bill": "Bill of materials",
    "beside": "Beside the network",
    "lengths": "Links by stock length of their cables",
    "networks": "Storage and management networks",
    "bandwidth": "What two accelerators have, all of them sending (one way)",
    "collectives": "Collectives of all accelerators",
    "growth": "Growth by phases",
    "options": "Cooling options",
    "heat": "Heat by path",
    "quarters": "By quarter",
    "warm_water": "What warmer facility water saves",
    "reported": "Beside it: what real sites here or in this climate zone report, whatever cools them",
    "chain": "Power blocks",
    "efficiency": "Power chain, utility to chip",
    "onsite": "Power at the site over a year",
    "racks_of": "Racks of the hall",
    "floor": "Rows of racks",
    "plant": "Plant on the design day",
    "oversubscription": "Racks together above their feed, by the number of like jobs",
    "swings": "What flattens the load",
    "between_sites": "Between the sites",
    "fabrics": "Fabrics side by side",
    "job": "One finished run on each",
    "halls": "Halls in the last quarter",
    "power": "Site power",
    "lead_times": "Weeks from order to delivery",
    "ends": "Runs on the calendar",
    "network": "Compute fabric in the last quarter",
    "storage": "Shared storage",
    "demand": "Capacity asked, and what serves it",
    "cloud": "Rented accelerators",
    "futures": "The plan in sampled futures",
    "drivers": "What drives the cost in them",
    "commitments": "Commitments to rented nodes",
    "cost": "Cost over the horizon (undiscounted)",
    "cashflow": "Cash by quarter (undiscounted)",
    "bands": "Beside public ranges",
    "runs": "Runs",
    "summary": "Summary",
    "sources": "What was asked",
    "figures": "Published and computed",
    "phases": "Phases",
    "layout": "Layout",
    "sizes": "Cluster sizes",
    "fewer": "The same run on fewer accelerators",
    "layouts": "Fastest layouts (-v: those that use less memory too)",
    "breakdown": "Step time",
    "memory": "Memory of the fullest rank",
    "run_storage": "Shared storage that the run asks for",
    "units": "What a unit of work costs, in present value over discounted hours",
    "term_structure": "What quotes of two terms imply for prices to come",
    "run_cost": "The run bought, amortised and rented",
    "losses": "Where wall-clock time is lost",
    "stops": "What stops the run",
    "replay": "Played through stop by stop (without slow parts, outages and the step time's own interval)",
    "uncertainty": "What makes the end unsure",
    "why_not": "What one rack of it would cost more",
    "what_if": "The plan with the change, where it differs",
    "binding": "Limits that bind, and what one more unit changes the cost by",
    "limits": "Limits that bind, and what one more unit changes the cost by, whole choices fixed",
    "stranded": "Idle in the last quarter",
    "conflict": "Why there is no plan",
    "remedies": "Smallest changes that would allow a plan",
    "alternatives": "Ways out, each tried",
    "values": "Values",
    "fields": "What the field is",
    "metrics": "What the metric is",
    "columns": "What the column is",
    "rows": "Catalog",
    "prices": "Prices taken",
    "spend": "Own use and rates",
    "changes": "Inputs changed in the workbook",
    "refused": "Rows not taken",
    "findings": "Findings",
    "versions": "Versions",
    "left_out": "Left out, and why",
}
HIDDEN_COLUMNS = {
    "layouts": ("among_fastest",),
    "racks": ("cooling",),
    "limits": ("place",),
    "bands": ("source",),
    "figures": ("published_low", "published_high", "low", "high", "note"),
    "sources": ("source", "url", "note"),
}
SHORT = 15
"""Rows of long lists shown without ``--verbose``."""


def write_text(result: Result, stream: IO[str], *, color: bool, verbose: bool = False) -> None:
    """Write a result as text."""
    console = Console(
        file=stream, no_color=not color, highlight=False, emoji=False, soft_wrap=not stream.isatty()
    )
    console.print(
        printable(result.headline),
        style="bold" if color and stream.isatty() else None,
        markup=False,
    )
    for name in SECTIONS:
        table = result.tables.get(name)
        if table is not None and table.rows:
            _section(console, stream, name, table, verbose=verbose)
    _metrics(console, stream, result)
    _expectations(console, result)
    _counts(console, result, verbose=verbose)


BARS = " ▁▂▃▄▅▆▇█"
SERIES = {
    "power": ("facility_mw", "utility_mw"),
    "cashflow": ("cash_out_usd",),
    "quarters": ("pue",),
}
"""Columns of time series that a terminal shows as bars."""


def bars(values: Sequence[float]) -> str:
    """One character a value, as high as it is between nothing and the largest.

    Examples
    --------
    >>> bars([0.0, 1.0, 4.0, 8.0]), bars([0.0, 0.0])
    (' ▁▄█', '  ')
    """
    top = max((abs(v) for v in values), default=0.0)
    return "".join(BARS[round(abs(v) / top * (len(BARS) - 1))] if top else " " for v in values)


def _bars(console: Console, name: str, table: Table) -> None:
    """Time series of a table as bars, where somebody looks at a terminal that can show them."""
    at = {column: i for i, column in enumerate(table.columns)}
    for column in SERIES.get(name, ()):
        if column not in at or len(table.rows) < 3:
            continue
        groups: dict[str, list[float]] = {}
        for row in table.rows:
            value = row[at[column]]
            key = str(row[at["site"]]) if "site" in at else ""
            groups.setdefault(key, []).append(
                float(value) if isinstance(value, int | float) else 0.0
            )
        for key, values in groups.items():
            ends = f"{shown(column, min(values))} to {shown(column, max(values))}"
            console.print(f"{key} {column}  {bars(values)}  {ends}".strip(), markup=False)


def _section(console: Console, stream: IO[str], name: str, table: Table, *, verbose: bool) -> None:
    console.print()
    console.print(SECTIONS[name], style="bold", markup=False)
    if stream.isatty() and console.encoding.lower().startswith("utf"):
        _bars(console, name, table)
    hidden = () if verbose else HIDDEN_COLUMNS.get(name, ())
    keep = [i for i, column in enumerate(table.columns) if column not in hidden]
    rows = [tuple(row[i] for i in keep) for row in table.rows]
    more = 0
    if name == "layouts" and not verbose and "among_fastest" in table.columns:
        fastest = table.columns.index("among_fastest")
        rows = [row for row, whole in zip(rows, table.rows, strict=True) if whole[fastest]]
    if name in ("left_out", "floor") and not verbose and len(rows) > SHORT:
        more = len(rows) - SHORT
        rows = rows[:SHORT]
    write_table(console, stream, [table.columns[i] for i in keep], rows)
    if more:
        console.print(f"... and {more} more: --verbose, or dcplan show RESULT {name}", markup=False)


def write_table(
    console: Console, stream: IO[str], columns: Sequence[str], rows: Iterable[Sequence[Cell]]
) -> None:
    """One table: framed on a terminal, plain aligned text elsewhere."""
    rows = list(rows)
    text = [[shown(c, v) for c, v in zip(columns, row, strict=True)] for row in rows]
    right = [any(is_number(row[i]) for row in rows) for i in range(len(columns))]
    widths = [max([len(c), *(len(line[i]) for line in text)]) for i, c in enumerate(columns)]
    if stream.isatty() and sum(widths) + 2 * len(widths) <= console.width:
        framed = RichTable(box=None, pad_edge=False)
        for column, is_right in zip(columns, right, strict=True):
            framed.add_column(column, justify="right" if is_right else "left", overflow="fold")
        for line in text:
            framed.add_row(*[_escape(cell) for cell in line])
        console.print(framed)
        return
    for line in [list(columns), *text]:
        cells = [
            cell.rjust(w) if r else cell.ljust(w)
            for cell, w, r in zip(line, widths, right, strict=True)
        ]
        console.print("  ".join(cells).rstrip(), markup=False)


def _escape(text: str) -> str:
    return text.replace("[", r"\[")


def _metrics(console: Console, stream: IO[str], result: Result) -> None:
    if not result.metrics:
        return
    console.print()
    console.print("Figures", style="bold", markup=False)
    rows = [(key, shown(key, m.value), m.unit, m.label) for key, m in result.metrics.items()]
    write_table(console, stream, ("metric", "value", "unit", "meaning"), rows)


def _expectations(console: Console, result: Result) -> None:
    if not result.expectations:
        return
    console.print()
    console.print("Expectations", style="bold", markup=False)
    for e in result.expectations:
        name = " ".join(str(e[k]) for k in ("scenario", "variant") if e.get(k))
        mark = {True: "ok  ", False: "FAIL" if e["severity"] == "error" else "warn", None: "skip"}[
            e["passed"]
        ]
        observed = "" if e["observed"] is None else f" = {observed_text(e)},"
        owner = f" (owner: {e['owner']})" if e["owner"] and e["passed"] is False else ""
        tail = f" {e['reason']}" if e["reason"] else f" asked {limits_text(e)}"
        where = f" {e['at']}" if e.get("at") and e["passed"] is False else ""
        line = f"{mark} {name} {e['id']}: {e['metric']}{observed}{tail}{owner}{where}".replace(
            "  ", " ", not name
        )
        console.print(printable(line), markup=False)


def _counts(console: Console, result: Result, *, verbose: bool) -> None:
    if not result.inputs:
        return
    counts: dict[str, int] = {}
    for row in result.inputs:
        counts[row["status"]] = counts.get(row["status"], 0) + 1
    text = ", ".join(f"{n} {status}" for status, n in sorted(counts.items()))
    how = "dcplan check FILE -v" if result.verb == "plan" else "-v"
    console.print()
    console.print(
        f"Inputs used: {text}" + ("" if verbose else f" ({how} lists them with sources)"),
        markup=False,
    )
    if verbose:
        rows = [
            (r["key"], r["value"], r["unit"], r["status"], r["at"] or "", r["source"] or "")
            for r in result.inputs
        ]
        write_table(console, console.file, ("key", "value", "unit", "status", "at", "source"), rows)


def table_text(result: Result, section: str) -> str:
    """One section of a result as plain aligned text; ``metrics`` and ``inputs`` are sections too."""
    stream = io.StringIO()
    console = Console(file=stream, no_color=True, highlight=False, emoji=False, soft_wrap=True)
    if section == "metrics":
        rows: list[tuple[Cell, ...]] = [
            (k, m.value, m.unit, m.label) for k, m in result.metrics.items()
        ]
        write_table(console, stream, ("metric", "value", "unit", "label"), rows)
    elif section == "inputs":
        columns = ("key", "value", "unit", "status", "at", "source")
        write_table(
            console, stream, columns, [tuple(row.get(c) for c in columns) for row in result.inputs]
        )
    else:
        table = result.tables[section]
        write_table(console, stream, table.columns, table.rows)
    return stream.getvalue()

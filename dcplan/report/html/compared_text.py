"""Sentences and tiles of the page that compares two answers, from the answer of ``diff``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dcplan.answers.plan.summary import FIRST_ORDER, IN_SERVICE, LAST_ORDER, PAID
from dcplan.report.memo.blocks import change, usd
from dcplan.report.text.numbers import plain, shown
from dcplan.result import Cell, Result
from dcplan.specs.plan import metrics as figures
from dcplan.specs.regression.compared import FIGURES_COMPARED, RUNS_COMPARED, FigureCompared
from dcplan.specs.regression.diff import DECISIONS_CHANGED, INPUTS_CHANGED
from dcplan.units import money, unit_of

MOST_INPUTS = 3
"""Inputs that the first sentence names."""
MOST_TILES = 6


@dataclass(frozen=True)
class Side:
    """One of two answers: its name on the page, and answers of ``--with``."""

    label: str
    result: Result
    others: tuple[Result, ...] = ()


def value_text(row: FigureCompared, value: Cell, *, signed: bool = False) -> str:
    """Return a value of a figure for people, in the unit of its row.

    Examples
    --------
    >>> row = FigureCompared("", "Capital cost", "cost.capex_usd", 2e7, 2.05e7, 5e5, 0.025, "USD", "")
    >>> value_text(row, row.after), value_text(row, row.change, signed=True)
    ('20.5 M', '+500 k')
    """
    if value is None or value == "":
        return "-"
    if isinstance(value, str | bool):
        return str(value)
    fraction = unit_of(row.metric) == "fraction"
    text = (
        money(value)
        if row.unit == "USD"
        else shown(row.metric, value)
        if fraction
        else plain(value)
    )
    return f"+{text}" if signed and value > 0 else text


def tiles(changes: Result) -> list[tuple[str, str]]:
    """Return the first figures that differ, with both values."""
    rows = [x for x in FIGURES_COMPARED.rows(changes.tables[FIGURES_COMPARED.name]) if x.change]
    rows.sort(key=lambda x: x.metric != figures.NPV.key)
    return [
        (x.figure, f"{value_text(x, x.before)} → {value_text(x, x.after)} {x.unit}".strip())
        for x in rows[:MOST_TILES]
    ]


def _kept(text: str) -> str:
    """Return a number whose mark stays on its line."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def _quoted(sides: tuple[Side, Side]) -> list[str]:
    return [f"“{side.label}”" for side in sides]


def sentences(sides: tuple[Side, Side], changes: Result) -> list[str]:
    """Return what differs and what it costs; the first sentence is the answer."""
    rows = FIGURES_COMPARED.rows(changes.tables[FIGURES_COMPARED.name])
    known = {x.figure: x for x in rows} | {x.metric: x for x in rows if x.metric}
    lines = [*_cost(sides, known), *_dates(sides, known), *_runs(sides, changes)]
    if not lines:
        lines = [
            f"{sides[1].label} against {sides[0].label}: two answers of {sides[0].result.verb}."
        ]
    lead = lines[0]
    return [lead, _inputs(sides, changes), *lines[1:], *_states(sides)]


def _inputs(sides: tuple[Side, Side], changes: Result) -> str:
    rows = INPUTS_CHANGED.rows(changes.tables[INPUTS_CHANGED.name])
    decisions = len(changes.tables[DECISIONS_CHANGED.name].rows)
    if not rows:
        return "No input differs."
    named = [f"{x.key} {_cell(x.before)} → {_cell(x.after)}" for x in rows[:MOST_INPUTS]]
    more = f" and {len(rows) - MOST_INPUTS} more" if len(rows) > MOST_INPUTS else ""
    text = f"Inputs that differ, {' → '.join(_quoted(sides))}: {'; '.join(named)}{more}."
    if sides[0].result.verb == "plan":
        text += f" {decisions} decision{'s' * (decisions != 1)} differ{'s' * (decisions == 1)}."
    return text


def _cell(value: Cell) -> str:
    if value is None:
        return "(none)"
    if isinstance(value, bool | str):
        return str(value)
    return plain(value)


def _cost(sides: tuple[Side, Side], known: dict[str, FigureCompared]) -> Iterator[str]:
    """Yield cash paid and net present cost of both."""
    first, second = _quoted(sides)
    paid, npv = known.get(PAID), known.get(figures.NPV.key)
    if npv is None or npv.change is None:
        return
    if npv.change == 0:
        yield f"{second} and {first} have the same net present cost, {usd(npv.after)}."
    else:
        share = "" if npv.change_frac is None else f", {npv.change_frac:+.1%}"
        close = npv.verdict and not npv.verdict.isalpha()
        more = ", which is within the solver's tolerance" if close else ""
        yield (
            f"{second} has a net present cost of {usd(npv.after)}, {first} of {usd(npv.before)}: "
            f"{change(npv.change)}{share}{more}."
        )
    if paid is not None and paid.change is not None:
        yield (
            f"Cash paid over the horizon, before tax and financing: {usd(paid.before)} in {first}, "
            f"{usd(paid.after)} in {second}, a difference of {change(paid.change)}."
        )


def _dates(sides: tuple[Side, Side], known: dict[str, FigureCompared]) -> Iterator[str]:
    first, second = _quoted(sides)
    found = [known[name] for name in (FIRST_ORDER, LAST_ORDER, IN_SERVICE) if name in known]
    same = [f"{x.figure.lower()} {x.before}" for x in found if x.before == x.after]
    moved = [
        f"{x.figure.lower()} {x.before or 'none'} in {first}, {x.after or 'none'} in {second}"
        for x in found
        if x.before != x.after
    ]
    if same:
        moved.append(f"{', '.join(same)} in both")
    if moved:
        yield f"Dates: {'; '.join(moved)}."


def _runs(sides: tuple[Side, Side], changes: Result) -> Iterator[str]:
    first, second = _quoted(sides)
    for x in RUNS_COMPARED.rows(changes.tables[RUNS_COMPARED.name]):
        if x.finish_before != x.finish_after:
            yield (
                f"Run {x.job} finishes by {x.finish_before or 'no date'} in {first}, by "
                f"{x.finish_after or 'no date'} in {second}."
            )


def _states(sides: tuple[Side, Side]) -> Iterator[str]:
    """Yield the status of each answer, with its proven gap."""
    for side in sides:
        gap = side.result.metrics.get(figures.GAP.key)
        proven = "" if gap is None else f", proven gap {shown(figures.GAP.key, gap.value)}"
        yield f"“{side.label}”: status {side.result.status}{proven}. {side.result.headline}."

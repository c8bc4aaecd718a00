"""One page of two answers side by side: what differs and what it costs, then both of everything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dcplan.report.html.compared_text import Side, sentences, tiles, value_text
from dcplan.report.html.facts import MOST_ROWS, TitledView
from dcplan.report.html.page import Part, templates
from dcplan.report.html.pairs import pictures
from dcplan.report.memo.blocks import Block
from dcplan.report.memo.content import memo, on_same_question
from dcplan.report.text.headings import title_of
from dcplan.report.text.next_steps import scenario_words
from dcplan.report.text.numbers import column, is_number, largest_usd
from dcplan.report.text.view import View, view
from dcplan.result import Result, Table
from dcplan.specs import registry
from dcplan.specs.plan.purchases import PURCHASES
from dcplan.specs.regression import compared as both
from dcplan.specs.regression import diff as changed
from dcplan.specs.table import Shown

OF_BOTH = ("_before", "_after")
"""Endings of columns that one of the two answers fills, before the unit."""
OF_EACH = ("Risks", "Alternatives", "What would change the decision")
"""Parts of a memo that the page shows of each plan."""
NOT_SHOWN = frozenset({"scenario", "delivery_before", "delivery_after"})
"""Columns in JSON alone: the page has one pair of answers, and its tables fit on a screen."""


@dataclass(frozen=True)
class Pair(Part):
    """A section with a block of each answer side by side."""

    pairs: tuple[tuple[tuple[str, TitledView | tuple[Block, ...]], ...], ...] = field(default=())


def compared_page(sides: tuple[Side, Side], changes: Result) -> str:
    """Return one page that compares two answers of the same verb.

    Parameters
    ----------
    changes : Result
        Answer of ``diff`` on both, which has every number of the comparison.

    Raises
    ------
    ValueError
        When an answer of ``--with`` is on the scenario of neither plan.
    """
    parts = [x for x in _parts(sides, changes) if x.charts or x.tables or x.pairs]
    first, second = (side.label for side in sides)
    lines = sentences(sides, changes)
    return (
        templates()
        .get_template("compared.html")
        .render(
            name=f"{first} and {second}",
            headline=lines[0],
            sentences=lines[1:],
            tiles=tiles(changes),
            parts=parts,
            limits=_limits(sides),
            command="\n".join(_command(side.result) for side in sides if _command(side.result)),
            facts=[
                (f"{side.label}: {name}", str(side.result.scenario[key]))
                for side in sides
                for name, key in (("scenario", "path"), ("inputs digest", "inputs_sha256"))
                if side.result.scenario.get(key)
            ],
        )
    )


def _parts(sides: tuple[Side, Side], changes: Result) -> Iterator[Pair]:
    labels = (sides[0].label, sides[1].label)
    charts = pictures(labels, changes)
    yield Pair("Main figures", tables=_of(_figures(labels, changes)))
    yield Pair("Cash", charts=charts.get("cash", ()))
    yield Pair("Purchases", tables=_of(_both(both.PURCHASES_COMPARED.name, labels, changes)))
    yield Pair("Fleet by quarter", charts=charts.get("fleet", ()))
    yield Pair("Power against the utility limit", charts=charts.get("power", ()))
    quarters = _both(both.QUARTERS_COMPARED.name, labels, changes)
    yield Pair("Fleet, power and cash by quarter", tables=_of(quarters))
    yield Pair("Workloads", tables=_of(_both(both.SERVED_COMPARED.name, labels, changes)))
    yield Pair("Training runs", tables=_of(_both(both.RUNS_COMPARED.name, labels, changes)))
    yield from _memos(sides)
    yield Pair(
        "What differs",
        tables=_of(
            *(
                _both(spec.name, labels, changes)
                for spec in (
                    changed.INPUTS_CHANGED,
                    changed.DECISIONS_CHANGED,
                    changed.METRICS_CHANGED,
                    changed.STATES,
                )
            )
        ),
    )
    if sides[0].result.verb != "plan":
        yield _tables(sides)


def _of(*found: TitledView | None) -> tuple[TitledView, ...]:
    return tuple(x for x in found if x is not None)


def _figures(labels: tuple[str, str], changes: Result) -> TitledView | None:
    """Return the main figures, each in its own unit."""
    table = changes.tables[both.FIGURES_COMPARED.name]
    rows = both.FIGURES_COMPARED.rows(table)
    if not rows:
        return None
    heads = ("Figure", *labels, "Difference", "Difference, %", "Unit", f"Verdict on {labels[1]}")
    cells = tuple(
        (
            x.figure,
            value_text(x, x.before),
            value_text(x, x.after),
            value_text(x, x.change, signed=True),
            "-" if x.change_frac is None else f"{100 * x.change_frac:+.1f}",
            x.unit,
            x.verdict,
        )
        for x in rows
    )
    numeric = (False, True, True, True, True, False, False)
    return TitledView("Main figures", View(heads, cells, numeric))


def _both(name: str, labels: tuple[str, str], changes: Result) -> TitledView | None:
    """Return a table of the comparison with the labels of both answers in its headers."""
    table = changes.tables[name]
    if not table.rows:
        return None
    rows = table.rows[:MOST_ROWS]
    kept = [
        i
        for i, head in enumerate(table.columns)
        if head not in NOT_SHOWN and not _empty(table, head)
    ]
    top = largest_usd(table.columns, rows)
    heads, cells = [], []
    for i in kept:
        head, texts = column(table.columns[i], [row[i] for row in rows], top)
        heads.append(_head(table.columns[i], head, labels))
        cells.append(texts)
    numeric = tuple(any(is_number(row[i]) for row in rows) for i in kept)
    made = View(tuple(heads), tuple(zip(*cells, strict=True)), numeric)
    return TitledView(
        title_of("diff", name) if name in _seen() else _title(name), made, _more(table)
    )


def _seen() -> set[str]:
    return {n for n, spec in registry.tables("diff").items() if spec.shown is not Shown.DATA}


def _title(name: str) -> str:
    return registry.tables("diff")[name].title


def _more(table: Table) -> int:
    return max(0, len(table.rows) - MOST_ROWS)


def _empty(table: Table, name: str) -> bool:
    """Whether a column, and the other one of its pair, has no cell."""
    other = {name.replace(a, b) for a, b in (OF_BOTH, OF_BOTH[::-1]) if a in name} & set(
        table.columns
    )
    at = [table.columns.index(x) for x in (name, *other)]
    return all(row[i] is None or row[i] == "" for row in table.rows for i in at)


def _head(name: str, head: str, labels: tuple[str, str]) -> str:
    """Return a header with the label of the answer that fills the column.

    Examples
    --------
    >>> _head("amount_before_usd", "Amount before, USD M", ("today", "later"))
    'Amount, USD M (today)'
    >>> _head("after", "After", ("today", "later"))
    'later'
    """
    for ending, word, label in zip(OF_BOTH, ("before", "after"), labels, strict=True):
        if name == word:
            return label
        if ending in name:
            return f"{head.replace(f' {word}', '')} ({label})"
    return head


def _memos(sides: tuple[Side, Side]) -> Iterator[Pair]:
    """Yield risks, alternatives and switching values of each plan that was found."""
    known = [x for x in sides if PURCHASES.name in x.result.tables]
    for other in (x for side in sides[:1] for x in side.others):
        if not any(on_same_question(side.result, other) for side in known):
            msg = f"the answer of {other.verb} is on the scenario of neither plan"
            raise ValueError(msg)
    if not known:
        return
    memos = []
    for side in known:
        own = [x for x in side.others if on_same_question(side.result, x)]
        memos.append((side.label, dict(memo(side.result, own).parts)))
    for title in OF_EACH:
        blocks = tuple((f"{title}: {label}", parts[title]) for label, parts in memos)
        yield Pair(title, pairs=(blocks,))


def _tables(sides: tuple[Side, Side]) -> Pair:
    """Return the tables that both answers have, side by side; equal ones once."""
    first, second = (side.result for side in sides)
    found: list[tuple[tuple[str, TitledView | tuple[Block, ...]], ...]] = []
    for name, spec in registry.tables(first.verb).items():
        if spec.shown is Shown.DATA or name not in first.tables or name not in second.tables:
            continue
        one, other = first.tables[name], second.tables[name]
        if one == other:
            title = f"{spec.title}: the same in both"
            found.append(((title, _plain(title, one)),))
            continue
        titles = [f"{spec.title}: {side.label}" for side in sides]
        found.append(tuple((t, _plain(t, x)) for t, x in zip(titles, (one, other), strict=True)))
    return Pair("Tables of both", pairs=tuple(found))


def _plain(title: str, table: Table) -> TitledView:
    return TitledView(title, view(table.columns, table.rows[:MOST_ROWS]), _more(table))


def _limits(sides: Sequence[Side]) -> list[str]:
    """Return what the comparison rests on."""
    texts = []
    for side in sides:
        gap = side.result.solver.get("gap_frac")
        if isinstance(gap, int | float):
            texts.append(
                f"{side.label}: no plan of its inputs is more than {gap:.2%} cheaper; the solver "
                "proves the bound, and an audit recomputes the cost."
            )
    texts.append(
        "Differences are the second answer less the first. A cost that differs by no more than the "
        "proven gaps does not show which plan is cheaper."
    )
    return texts


def _command(result: Result) -> str:
    words = scenario_words(result)
    return f"dcplan {result.verb} {words}" if words and result.verb in ("plan", "tco") else ""

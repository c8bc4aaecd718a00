"""A plan's result in the form that the workbook needs: facts, amounts and inputs by key."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from dcplan.economics.cash_flow import AssetClass, FlowGroup
from dcplan.report.book.data.term import Array, Term, read
from dcplan.report.book.grid import INPUT_ROW, Key
from dcplan.result import Cell, Result
from dcplan.units import quarter_index, quarter_name

Line = tuple[str, str, str]
"""Group, line and site of a payment."""
NEEDED = ("book_facts", "book_amounts", "flows", "cash_flow")
Record = dict[str, Cell]
"""Row of a table by its columns."""
RESIDUAL_AT_END = f"{FlowGroup.RESIDUAL} at end"
"""Group of residual value at the end of the horizon, separate from sales before it."""


@dataclass(frozen=True)
class Fact:
    """One value with its formula over inputs and other facts of its key."""

    value: float
    unit: str
    formula: str


@dataclass(frozen=True)
class Source:
    """All data of a workbook."""

    result: Result
    inputs: Mapping[str, Term]
    """Numeric inputs, each with the address of its cell."""
    quarters: tuple[str, ...]
    """Quarters of the horizon, and of commitments after it."""
    horizon: int
    facts: Mapping[Key, Mapping[str, Fact]]
    by_quarter: Mapping[Key, Mapping[str, tuple[Fact, ...]]]
    """Facts that vary in time."""
    amounts: Mapping[str, Mapping[Key, Array]]
    flows: Mapping[Line, Array]
    """Payments by group, line and site; those at the end of the horizon are under the group
    :data:`RESIDUAL_AT_END`."""
    assets: Mapping[Line, AssetClass]
    """Asset class of each of these lines."""
    live: Mapping[str, str | None]
    """Inputs of formulas, with the name in ``--set`` of those that can be edited."""
    spans: Mapping[str, tuple[Cell, Cell]] = field(default_factory=dict)
    """Low and high bound of each of these inputs; an earlier result has none."""
    limits: Mapping[tuple[str, str], tuple[int, Array, Array]] = field(default_factory=dict)
    """First quarter, use and limit from then to the end of the horizon, by check and place, from the
    audit."""
    rest: Mapping[Line, Array] | None = None
    """Payments without a formula, if already known."""
    fixed: Mapping[str, str] = field(default_factory=dict)
    """Reason why an edit of an input needs a new run, for those of formulas that cannot be edited."""
    computed: Mapping[str, Term] = field(default_factory=dict)
    """Inputs that follow from others."""

    @property
    def length(self) -> int:
        """Number of quarters on the time axis."""
        return len(self.quarters)

    def amount(self, what: str, key: Key) -> Array:
        """Return an amount by quarter; zeros if the plan has none."""
        return self.amounts.get(what, {}).get(key, np.zeros(self.length))

    def keys(self, what: str) -> list[Key]:
        """Return the keys that have an amount, in order."""
        return list(self.amounts.get(what, {}))


def source_of(result: Result) -> Source:
    """Read a plan's tables.

    Raises
    ------
    ValueError
        When the result is not a plan, or contains none.
    """
    missing = next((name for name in NEEDED if name not in result.tables), None)
    if missing:
        msg = (
            "only an unredacted result with a plan can become a workbook: this result of "
            f"{result.verb} has no table {missing}"
        )
        raise ValueError(msg)
    if "asset" not in result.tables["flows"].columns:
        msg = (
            "the table flows of this result has no column asset: it comes from an earlier "
            "version, run dcplan plan again"
        )
        raise ValueError(msg)
    tables = result.tables
    names = [str(row["quarter"]) for row in tables["cash_flow"].records()]
    checks = tables["checks"].records() if "checks" in tables else []
    return source_from(result, tables["flows"].records(), names, _limits(checks, names))


def source_from(
    result: Result,
    flows: list[Record],
    quarters: Sequence[str],
    limits: Mapping[tuple[str, str], tuple[int, Array, Array]] | None = None,
) -> Source:
    """Read the facts and amounts of a result, with its payments over some quarters."""
    first, horizon = quarter_index(quarters[0]), len(quarters)
    last = max((quarter_index(str(row["quarter"])) for row in flows), default=first)
    length = max(horizon, last - first + 1)
    facts, amounts, live = (
        result.tables[name].records() for name in ("book_facts", "book_amounts", "book_live")
    )
    inputs = _inputs(result)
    return Source(
        result,
        inputs,
        tuple(quarter_name(first + t) for t in range(length)),
        horizon,
        *_facts(facts),
        _amounts(amounts, length),
        _flows(flows, first, length),
        {_line(row): AssetClass(str(row["asset"])) for row in flows},
        {str(row["key"]): _text(row["set_as"]) for row in live},
        {str(row["key"]): (row["low"], row["high"]) for row in live if "low" in row},
        limits or {},
        fixed={
            str(row["key"]): str(row["fixed_because"]) for row in live if row.get("fixed_because")
        },
        computed=_computed(result, inputs),
    )


def _computed(result: Result, inputs: Mapping[str, Term]) -> dict[str, Term]:
    """Return the inputs that follow from others, as formulas of their cells."""
    table = result.tables.get("book_computed")
    rows = table.records() if table is not None else []
    one = inputs.__getitem__
    return {str(row["key"]): read(str(row["formula"]), one, one) for row in rows}


def _text(cell: Cell) -> str | None:
    return None if cell is None else str(cell)


def _inputs(result: Result) -> dict[str, Term]:
    def cell(value: float, row: int) -> Term:
        return Term(value, lambda t: f"Inputs!$C${row}")

    return {
        str(row["key"]): cell(float(row["value"]), INPUT_ROW + i)
        for i, row in enumerate(result.inputs)
        if isinstance(row["value"], int | float)
    }


def _limits(
    checks: list[Record], quarters: list[str]
) -> dict[tuple[str, str], tuple[int, Array, Array]]:
    """Return the limits that apply in every quarter of the horizon from their first one."""
    found: dict[tuple[str, str], dict[str, tuple[float, float]]] = defaultdict(dict)
    for row in checks:
        used, limit = row["used"], row["limit"]
        if isinstance(used, int | float) and isinstance(limit, int | float):
            by = found[str(row["check"]), str(row["where"])]
            by[str(row["quarter"])] = (float(used), float(limit))
    limits = {}
    for key, by in found.items():
        since = next((t for t, q in enumerate(quarters) if q in by), len(quarters))
        own = quarters[since:]
        if own and all(q in by for q in own):
            used_most = np.array([by[q] for q in own])
            limits[key] = (since, used_most[:, 0], used_most[:, 1])
    return limits


def _facts(
    rows: list[Record],
) -> tuple[dict[Key, dict[str, Fact]], dict[Key, dict[str, tuple[Fact, ...]]]]:
    single: dict[Key, dict[str, Fact]] = defaultdict(dict)
    varying: dict[Key, dict[str, tuple[Fact, ...]]] = defaultdict(dict)
    for row in rows:
        key, name = _key(row), str(row["fact"])
        fact = Fact(_number(row["value"]), str(row["unit"] or ""), str(row["formula"] or ""))
        if row["quarter"] is None:
            single[key][name] = fact
        else:
            varying[key][name] = (*varying[key].get(name, ()), fact)
    return single, varying


def _key(row: Record) -> Key:
    return str(row["place"] or ""), str(row["cooling"] or ""), str(row["item"] or "")


def _number(cell: Cell) -> float:
    return float(str(cell))


def _amounts(rows: list[Record], length: int) -> dict[str, dict[Key, Array]]:
    found: dict[str, dict[Key, Array]] = defaultdict(dict)
    for row in rows:
        series = found[str(row["what"])].setdefault(_key(row), np.zeros(length))
        series[int(_number(row["quarter"]))] += _number(row["amount"])
    return found


def _line(flow: Record) -> Line:
    group = RESIDUAL_AT_END if flow["falls"] == "end" else FlowGroup(str(flow["group"]))
    return group, str(flow["line"]), str(flow["site"] or "")


def _flows(rows: list[Record], first: int, length: int) -> dict[Line, Array]:
    found: dict[Line, Array] = {}
    for row in rows:
        series = found.setdefault(_line(row), np.zeros(length))
        series[quarter_index(str(row["quarter"])) - first] += _number(row["usd"])
    return found


def placements(source: Source) -> list[Key]:
    """Return the systems in halls that the plan uses."""
    return [key for key, facts in source.facts.items() if "rated_kw" in facts]


def halls(source: Source) -> list[str]:
    """Return the halls of the plan."""
    return [
        place
        for (place, cooling, _), facts in source.facts.items()
        if "storage_usd" in facts and not cooling
    ]


def sites(source: Source) -> list[str]:
    """Return the sites of the plan."""
    return [place for (place, _, _), facts in source.facts.items() if "block_usd" in facts]


def coolings(source: Source, hall: str) -> list[Key]:
    """Return the cooling options that are fitted in a hall."""
    return [
        key
        for key, facts in source.facts.items()
        if key[0] == hall and not key[2] and "pue" in facts
    ]


def of_site(source: Source, site: str) -> list[str]:
    """Return the halls of a site."""
    return [hall for hall in halls(source) if hall.partition("/")[0] == site]

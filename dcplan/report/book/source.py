"""A plan's result as the workbook reads it: facts, amounts and inputs by their keys."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from dcplan.economics.cash_flow import AssetClass, FlowGroup
from dcplan.report.book.data.term import Array
from dcplan.report.book.grid import Key
from dcplan.result import Cell, Result
from dcplan.units import quarter_index, quarter_name

Line = tuple[str, str, str]
"""Group, line and site of a payment."""
RESIDUAL_AT_END = f"{FlowGroup.RESIDUAL} at end"
"""Group of what is left at the end of the horizon, apart from sales before it."""


@dataclass(frozen=True)
class Fact:
    """One figure with its formula over inputs and other facts of its key."""

    value: float
    unit: str
    formula: str


@dataclass(frozen=True)
class Source:
    """Everything that a workbook is computed from."""

    result: Result
    quarters: tuple[str, ...]
    """Of the horizon, and of commitments after it."""
    horizon: int
    facts: Mapping[Key, Mapping[str, Fact]]
    by_quarter: Mapping[Key, Mapping[str, tuple[Fact, ...]]]
    """Facts that vary in time."""
    amounts: Mapping[str, Mapping[Key, Array]]
    flows: Mapping[tuple[str, str, str], Array]
    """Payments by group, line and site; those at the end of the horizon are under the group
    :data:`RESIDUAL_AT_END`."""
    assets: Mapping[tuple[str, str, str], AssetClass]
    """Asset class of each of these lines."""
    live: Mapping[str, str | None]
    """Inputs that formulas read, and what ``--set`` calls those that may be edited."""
    limits: Mapping[tuple[str, str], tuple[int, Array, Array]] = field(default_factory=dict)
    """First quarter, used and limit from it to the end of the horizon, by check and where, as the
    audit found them."""
    rest: Mapping[tuple[str, str, str], Array] | None = None
    """Payments that no formula gives, where they were found before."""

    @property
    def length(self) -> int:
        """Quarters on the ruler."""
        return len(self.quarters)

    def amount(self, what: str, key: Key) -> Array:
        """An amount by quarter; zeros where the plan has none."""
        return self.amounts.get(what, {}).get(key, np.zeros(self.length))

    def keys(self, what: str) -> list[Key]:
        """Places that have an amount, in their order."""
        return list(self.amounts.get(what, {}))


def source_of(result: Result) -> Source:
    """Read a plan's tables.

    Raises
    ------
    ValueError
        When the result is not of a plan, or holds none.
    """
    missing = [
        name
        for name in ("book_facts", "book_amounts", "flows", "cashflow")
        if name not in result.tables
    ]
    if missing:
        msg = f"only a plan that was found and not redacted can become a workbook: {result.verb} without {missing[0]}"
        raise ValueError(msg)
    if "asset" not in result.tables["flows"].columns:
        msg = "the flows of this result have no column asset: it is of an earlier version"
        raise ValueError(msg)
    names = [str(row[0]) for row in result.tables["cashflow"].rows]
    first, horizon = quarter_index(names[0]), len(names)
    flows = result.tables["flows"].records()
    length = max([horizon, *(quarter_index(str(f["quarter"])) - first + 1 for f in flows)])
    quarters = tuple(quarter_name(first + t) for t in range(length))
    return Source(
        result,
        quarters,
        horizon,
        *_facts(result.tables["book_facts"].rows),
        _amounts(result.tables["book_amounts"].rows, length),
        _flows(flows, first, length),
        {_line(f): AssetClass(str(f["asset"])) for f in flows},
        {
            str(key): None if name is None else str(name)
            for key, name in result.tables["book_live"].rows
        },
        _limits(result, names),
    )


def _limits(result: Result, quarters: list[str]) -> dict[tuple[str, str], tuple[int, Array, Array]]:
    """Checks that stand in every quarter of the horizon from their first on."""
    if "checks" not in result.tables:
        return {}
    found: dict[tuple[str, str], dict[str, tuple[float, float]]] = defaultdict(dict)
    for row in result.tables["checks"].records():
        used, limit = row["used"], row["limit"]
        if isinstance(used, int | float) and isinstance(limit, int | float):
            found[str(row["check"]), str(row["where"])][str(row["quarter"])] = (
                float(used),
                float(limit),
            )
    limits = {}
    for key, by in found.items():
        since = next((t for t, q in enumerate(quarters) if q in by), len(quarters))
        own = quarters[since:]
        if own and all(q in by for q in own):
            limits[key] = (
                since,
                np.array([by[q][0] for q in own]),
                np.array([by[q][1] for q in own]),
            )
    return limits


def _facts(
    rows: Iterable[tuple[object, ...]],
) -> tuple[dict[Key, dict[str, Fact]], dict[Key, dict[str, tuple[Fact, ...]]]]:
    single: dict[Key, dict[str, Fact]] = defaultdict(dict)
    varying: dict[Key, dict[str, tuple[Fact, ...]]] = defaultdict(dict)
    for name, place, cooling, item, quarter, value, unit, formula in rows:
        key = (_blank(place), _blank(cooling), _blank(item))
        fact = Fact(float(str(value)), _blank(unit), _blank(formula))
        if quarter is None:
            single[key][str(name)] = fact
        else:
            varying[key][str(name)] = (*varying[key].get(str(name), ()), fact)
    return single, varying


def _blank(cell: object) -> str:
    return "" if cell is None else str(cell)


def _amounts(rows: Iterable[tuple[object, ...]], length: int) -> dict[str, dict[Key, Array]]:
    found: dict[str, dict[Key, Array]] = defaultdict(dict)
    for what, place, cooling, item, quarter, amount in rows:
        key = (_blank(place), _blank(cooling), _blank(item))
        series = found[str(what)].setdefault(key, np.zeros(length))
        series[int(str(quarter))] += float(str(amount))
    return found


def _line(flow: Mapping[str, Cell]) -> tuple[str, str, str]:
    """Return the group, line and site of a payment."""
    group = RESIDUAL_AT_END if flow["falls"] == "end" else FlowGroup(str(flow["group"]))
    return group, str(flow["line"]), str(flow["site"])


def _flows(
    flows: Iterable[Mapping[str, Cell]], first: int, length: int
) -> dict[tuple[str, str, str], Array]:
    found: dict[tuple[str, str, str], Array] = {}
    for flow in flows:
        series = found.setdefault(_line(flow), np.zeros(length))
        series[quarter_index(str(flow["quarter"])) - first] += float(str(flow["usd"]))
    return found


def placements(source: Source) -> list[Key]:
    """Systems in halls that the plan uses."""
    return [key for key, facts in source.facts.items() if "rated_kw" in facts]


def halls(source: Source) -> list[str]:
    """Halls of the plan."""
    return [
        place
        for (place, cooling, _), facts in source.facts.items()
        if "storage_usd" in facts and not cooling
    ]


def sites(source: Source) -> list[str]:
    """Sites of the plan."""
    return [place for (place, _, _), facts in source.facts.items() if "block_usd" in facts]


def coolings(source: Source, hall: str) -> list[Key]:
    """Cooling options that are fitted in a hall."""
    return [key for key, facts in source.facts.items() if key[0] == hall and "pue" in facts]


def of_site(source: Source, site: str) -> list[str]:
    """Halls of a site."""
    return [hall for hall in halls(source) if hall.partition("/")[0] == site]

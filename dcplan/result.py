"""The common shape of every answer (``dcplan.result/1``).

It holds metrics, tables, inputs, expectations and warnings.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, TypeVar

from dcplan.errors import EXIT_INFEASIBLE, did_you_mean
from dcplan.units import unit_of

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")
SCHEMA = "dcplan.result/1"
Cell = str | float | int | bool | None


class AbsentError(LookupError):
    """An answer has no metric, table or input of this name; the message names the nearest one."""


class NoPlanError(Exception):
    """An answer has no plan; ``result`` has its conflict, balance and remedies."""

    exit_code = EXIT_INFEASIBLE

    def __init__(self, result: Result) -> None:
        super().__init__(result)  # an exception is copied to another process by its arguments
        self.result = result

    def __str__(self) -> str:
        """Return the headline and the status."""
        return f"{self.result.headline} [status: {self.result.status}]"


@dataclass(frozen=True)
class Metric:
    """One named value of an answer."""

    value: float | str | None
    unit: str = ""
    label: str = ""
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Table:
    """Rows with named columns; the name of a column gives its unit."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def records(self) -> list[dict[str, Cell]]:
        """Return every row as a mapping from column to cell.

        Examples
        --------
        >>> Table(("site", "mw"), (("a", 2.0),)).records()
        [{'site': 'a', 'mw': 2.0}]
        """
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def as_dict(self) -> dict[str, Any]:
        """Return columns with unit and type, and rows as lists."""
        return {
            "columns": [
                {"name": name, "unit": unit_of(name), "type": self._type(i)}
                for i, name in enumerate(self.columns)
            ],
            "rows": [[_plain(cell) for cell in row] for row in self.rows],
        }

    def _type(self, i: int) -> str:
        cells = [cell for cell in (_plain(row[i]) for row in self.rows) if cell is not None]
        return (
            "number"
            if cells and all(isinstance(c, int | float) and not isinstance(c, bool) for c in cells)
            else "string"
        )


@dataclass
class Result:
    """A finished answer."""

    verb: str
    status: str
    exit_code: int
    headline: str
    scenario: Mapping[str, Any] = field(default_factory=dict)
    solver: Mapping[str, Any] = field(default_factory=dict)
    metrics: dict[str, Metric] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    inputs: Sequence[Mapping[str, Any]] = ()
    expectations: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[dict[str, Any]] = field(default_factory=list)
    run: Mapping[str, Any] = field(default_factory=dict)

    def require_plan(self) -> Result:
        """Return this answer if it has figures; else raise.

        Raises
        ------
        NoPlanError
            If the question is infeasible, or no plan was found in time.
        """
        if not self.metrics and self.status != "ok":
            raise NoPlanError(self)
        return self

    def value(self, key: str) -> float:
        """Return the numeric value of a metric.

        Raises
        ------
        AbsentError
            If the metric does not exist or is not a number.
        """
        metric = self._named("metric", self.metrics, key)
        if not isinstance(metric.value, int | float):
            msg = f"metric {key!r} is not a number: {metric.value!r}"
            raise AbsentError(msg)
        return float(metric.value)

    def input_value(self, key: str) -> float:
        """Return the numeric value of an input.

        Raises
        ------
        AbsentError
            If the answer has no such input, or it is not a number.
        """
        row = self._named("input", {str(row["key"]): row for row in self.inputs}, key)
        if not isinstance(row["value"], int | float):
            msg = f"input {key!r} is not a number: {row['value']!r}"
            raise AbsentError(msg)
        return float(row["value"])

    def frame(self, table: str) -> pd.DataFrame:
        """Return a table, ``metrics`` or ``inputs`` as a pandas DataFrame.

        Raises
        ------
        AbsentError
            If the answer has no such table.
        """
        import pandas as pd

        if table == "inputs":
            return pd.DataFrame([dict(row) for row in self.inputs])
        if table == "metrics":
            return pd.DataFrame([{"metric": k, **asdict(m)} for k, m in self.metrics.items()])
        found = self._named("table", self.tables, table)
        return pd.DataFrame(list(found.rows), columns=list(found.columns))

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return ``metrics``, every table and ``inputs`` as pandas DataFrames by name."""
        return {name: self.frame(name) for name in ("metrics", *self.tables, "inputs")}

    def _named(self, kind: str, items: Mapping[str, T], key: str) -> T:
        if key not in items:
            hint = did_you_mean(key, items)
            why = f"the {self.verb} answer has no {kind} {key!r}; its status is {self.status}"
            raise AbsentError(f"{why}; {hint}" if hint else why)
        return items[key]

    def _repr_html_(self) -> str:
        """Return what Jupyter shows: the headline, warnings, metrics, and each table folded."""
        shown = [
            (m.label or key, _cell_text(m.value), m.unit, key) for key, m in self.metrics.items()
        ]
        metrics = Table(("metric", "value", "unit", "key"), tuple(shown))
        parts = [f"<p><b>{escape(self.headline)}</b></p>"]
        parts += [f"<p>{escape(str(w.get('message', '')))}</p>" for w in self.warnings]
        parts += [_folded("metrics", metrics)] if shown else []
        parts += [_folded(name, table) for name, table in self.tables.items() if table.rows]
        return "\n".join(parts)

    def as_dict(self) -> dict[str, Any]:
        """Return the published JSON shape."""
        from dcplan import __version__

        return {
            "schema": SCHEMA,
            "dcplan_version": __version__,
            "verb": self.verb,
            "status": self.status,
            "exit_code": self.exit_code,
            "headline": self.headline,
            "scenario": dict(self.scenario),
            "solver": {k: _plain(v) for k, v in self.solver.items()},
            "metrics": {
                k: {n: _plain(v) for n, v in asdict(m).items()} for k, m in self.metrics.items()
            },
            "tables": {name: table.as_dict() for name, table in self.tables.items()},
            "inputs": [dict(row) for row in self.inputs],
            "expectations": self.expectations,
            "warnings": self.warnings,
            "run": dict(self.run),
        }

    def to_json(self) -> str:
        """Return JSON text with sorted keys, without NaN, ending with a newline."""
        return (
            json.dumps(
                self.as_dict(), sort_keys=True, indent=1, allow_nan=False, ensure_ascii=False
            )
            + "\n"
        )


MOST_ROWS = 200
"""Rows of a table that Jupyter shows."""


def cell_of(value: object) -> str | float | None:
    """Return a value as a cell of a table; None if a cell cannot hold it.

    Examples
    --------
    >>> cell_of("x"), cell_of(2.5), cell_of([1])
    ('x', 2.5, None)
    """
    return value if isinstance(value, str | int | float) else None


def _folded(name: str, table: Table) -> str:
    """Return a table of HTML that opens on a click."""
    head = "".join(f"<th>{escape(column)}</th>" for column in table.columns)
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(_cell_text(cell))}</td>' for cell in row)}</tr>"
        for row in table.rows[:MOST_ROWS]
    )
    count = len(table.rows)
    more = f", the first {MOST_ROWS:,}" if count > MOST_ROWS else ""
    summary = (
        f"<summary>{escape(name)} ({count:,} {'row' if count == 1 else 'rows'}{more})</summary>"
    )
    body = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f"<details>{summary}{body}</details>"


def _cell_text(cell: Cell) -> str:
    """Return a cell with at most six significant digits."""
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 1e6 else f"{cell:,.6g}"
    return f"{cell:,}" if isinstance(cell, int) and not isinstance(cell, bool) else str(cell)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def from_dict(data: Mapping[str, Any]) -> Result:
    """Read a result; unknown fields are allowed, so additive changes keep ``/1``.

    Raises
    ------
    ValueError
        If the document is not a ``dcplan.result/1``.
    """
    if data.get("schema") != SCHEMA:
        msg = f"not a {SCHEMA} document (schema is {data.get('schema')!r})"
        raise ValueError(msg)
    fields = {"value", "unit", "label", "low", "high"}
    return Result(
        verb=str(data.get("verb", "")),
        status=str(data["status"]),
        exit_code=int(data["exit_code"]),
        headline=str(data.get("headline", "")),
        scenario=dict(data.get("scenario", {})),
        solver=dict(data.get("solver", {})),
        metrics={
            k: Metric(**{n: v for n, v in m.items() if n in fields})
            for k, m in data["metrics"].items()
        },
        tables={
            name: Table(
                tuple(c["name"] for c in t["columns"]), tuple(tuple(row) for row in t["rows"])
            )
            for name, t in data["tables"].items()
        },
        inputs=list(data.get("inputs", [])),
        expectations=list(data.get("expectations", [])),
        warnings=list(data.get("warnings", [])),
        run=dict(data.get("run", {})),
    )

"""The common shape of every answer (``dcplan.result/1``).

It holds metrics, tables, inputs, expectations and warnings.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from dcplan.units import unit_of

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "dcplan.result/1"
Cell = str | float | int | bool | None


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

    def value(self, key: str) -> float:
        """Return the numeric value of a metric.

        Raises
        ------
        KeyError
            If the metric does not exist or is not a number.
        """
        metric = self.metrics[key]
        if not isinstance(metric.value, int | float):
            raise KeyError(key)
        return float(metric.value)

    def input_value(self, key: str) -> float:
        """Return the numeric value of an input.

        Raises
        ------
        KeyError
            If the answer has no such input, or it is not a number.
        """
        found = next((row["value"] for row in self.inputs if row["key"] == key), None)
        if not isinstance(found, int | float):
            raise KeyError(key)
        return float(found)

    def frame(self, table: str) -> pd.DataFrame:
        """Return one table as a pandas DataFrame."""
        import pandas as pd

        found = self.tables[table]
        return pd.DataFrame(list(found.rows), columns=list(found.columns))

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

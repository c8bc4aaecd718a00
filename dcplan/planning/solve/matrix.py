"""A mixed-integer program as arrays, compiled once from a Pyomo model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyomo.core as pyo
from pyomo.repn.linear import LinearRepnVisitor
from pyomo.repn.util import VarRecorder

from dcplan.planning.keys import Key

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Row:
    """A row to add to a program: its entries by column, and its limits."""

    key: Key
    entries: Mapping[int, float]
    lower: float = -np.inf
    upper: float = np.inf


@dataclass
class Matrix:
    """A mixed-integer program whose columns and rows have keys."""

    cost: Vector
    offset: float
    lower: Vector
    upper: Vector
    integer: npt.NDArray[np.bool_]
    columns: list[Key]
    row_lower: Vector
    row_upper: Vector
    rows: list[Key]
    start: npt.NDArray[np.int32]
    index: npt.NDArray[np.int32]
    value: Vector

    def of(self, variables: Iterable[str]) -> list[int]:
        """Return the columns of some variables."""
        wanted = set(variables)
        return [i for i, key in enumerate(self.columns) if key.name in wanted]

    def integer_values(self, values: Vector) -> dict[Key, float]:
        """Return the rounded integers of a solution by column."""
        return {
            key: float(round(values[i])) for i, key in enumerate(self.columns) if self.integer[i]
        }

    def rounded(self, values: Vector) -> Vector:
        """Return a solution with its integers rounded."""
        return np.where(self.integer, np.round(values), values)

    @property
    def owner(self) -> npt.NDArray[np.int64]:
        """Return the column of every entry."""
        return np.repeat(np.arange(len(self.columns)), np.diff(self.start))

    def with_rows(self, rows: Sequence[Row]) -> Matrix:
        """Return the program with further rows, after its own."""
        first = len(self.rows)
        column = [c for row in rows for c in row.entries]
        value = [v for row in rows for v in row.entries.values()]
        index = np.repeat(np.arange(first, first + len(rows)), [len(r.entries) for r in rows])
        owner = np.concatenate([self.owner, np.array(column, dtype=np.int64)])
        order = np.argsort(owner, kind="stable")
        ends = np.cumsum(np.bincount(owner, minlength=len(self.columns)))
        return replace(
            self,
            rows=[*self.rows, *(row.key for row in rows)],
            row_lower=np.concatenate([self.row_lower, [row.lower for row in rows]]),
            row_upper=np.concatenate([self.row_upper, [row.upper for row in rows]]),
            start=np.concatenate([[0], ends]).astype(np.int32),
            index=np.concatenate([self.index, index])[order].astype(np.int32),
            value=np.concatenate([self.value, value])[order],
        )

    def with_integers(self, columns: Sequence[Key], upper: Sequence[float]) -> Matrix:
        """Return the program with further integer columns from 0 to ``upper``, without entries or cost."""
        zeros = np.zeros(len(columns))
        return replace(
            self,
            cost=np.concatenate([self.cost, zeros]),
            lower=np.concatenate([self.lower, zeros]),
            upper=np.concatenate([self.upper, np.array(upper, dtype=np.float64)]),
            integer=np.concatenate([self.integer, zeros == 0.0]),
            columns=[*self.columns, *columns],
            start=np.concatenate([self.start, np.full(len(columns), self.start[-1])]).astype(
                np.int32
            ),
        )

    def activity(self, values: Vector) -> Vector:
        """Return the left side of every row."""
        found = np.bincount(
            self.index, weights=self.value * values[self.owner], minlength=len(self.rows)
        )
        return np.asarray(found, dtype=np.float64)


def compile_model(model: pyo.ConcreteModel) -> Matrix:
    """Translate a Pyomo model once.

    Rows keep the name of their constraint, columns the order of their declaration.

    Pyomo's own visitor reads the expressions. Its standard-form writer is not used because it
    imports scipy.stats, which takes longer than a small plan.
    """
    variables = list(model.component_data_objects(pyo.Var, descend_into=False))
    place = {id(v): i for i, v in enumerate(variables)}
    visitor = LinearRepnVisitor({}, var_recorder=VarRecorder({}, pyo.SortComponents.deterministic))
    goal = visitor.walk_expression(
        next(model.component_data_objects(pyo.Objective, active=True)).expr
    )
    cost = np.zeros(len(variables))
    cost[[place[v] for v in goal.linear]] = list(goal.linear.values())
    rows, lower, upper = [], [], []
    index: list[int] = []
    values: list[float] = []
    ends = [0]
    for row in model.component_data_objects(pyo.Constraint, active=True, descend_into=False):
        low, body, high = row.to_bounded_expression(evaluate_bounds=True)
        found = visitor.walk_expression(body)
        rows.append(_key(row))
        lower.append(-np.inf if low is None else low - found.constant)
        upper.append(np.inf if high is None else high - found.constant)
        index += [place[v] for v in found.linear]
        values += found.linear.values()
        ends.append(len(index))
    columns = np.array(index, dtype=np.int64)
    order = np.argsort(columns, kind="stable")
    owner = np.repeat(np.arange(len(rows)), np.diff(ends))
    bounds = [v.bounds for v in variables]
    return Matrix(
        cost=cost,
        offset=float(goal.constant),
        lower=np.array([-np.inf if b[0] is None else b[0] for b in bounds], dtype=np.float64),
        upper=np.array([np.inf if b[1] is None else b[1] for b in bounds], dtype=np.float64),
        integer=np.array([v.is_integer() or v.is_binary() for v in variables], dtype=bool),
        columns=[_key(v) for v in variables],
        row_lower=np.array(lower, dtype=np.float64),
        row_upper=np.array(upper, dtype=np.float64),
        rows=rows,
        start=np.concatenate(
            [[0], np.cumsum(np.bincount(columns, minlength=len(variables)))]
        ).astype(np.int32),
        index=owner[order].astype(np.int32),
        value=np.array(values, dtype=np.float64)[order],
    )


def _key(component: Any) -> Key:
    """Return the name and index of a variable or constraint, with unchanged ids and numbers."""
    index = component.index()
    name = component.parent_component().local_name
    if index is None:
        return Key(name)
    return Key(name, index if isinstance(index, tuple) else (index,))

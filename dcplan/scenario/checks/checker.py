"""Collector of the problems that scenario checks find."""

from __future__ import annotations

from collections.abc import Iterable

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Row
from dcplan.errors import Problem, did_you_mean
from dcplan.provenance import Path
from dcplan.scenario.schema import Scenario
from dcplan.scenario.tree import Tree
from dcplan.units import quarter_index, quarter_name


class Checker:
    """Collector of a scenario's problems with their places."""

    def __init__(self, scenario: Scenario, catalog: Catalog, tree: Tree) -> None:
        self.scenario, self.catalog, self.tree = scenario, catalog, tree
        self.problems: list[Problem] = []

    def need(self, kind: str, reference: str, model: type[Row], path: Path) -> None:
        """Reject a name that is not in the catalog."""
        if self.catalog.find(kind, reference, model) is None:
            hint = did_you_mean(reference, self.catalog.rows[kind])
            cause = f"no {kind} row {reference!r}"
            self.add("DC010", cause, path, hint=hint, help=f"dcplan catalog list {kind}")

    def add(self, code: str, cause: str, path: Path, *, hint: str = "", help: str = "") -> None:
        """Record a problem at a path."""
        self.problems.append(self.tree.problem(code, cause, path, hint=hint, help=help))

    def in_horizon(self, name: str, quarter: str | None, path: Path, *, earlier: bool) -> None:
        """Reject a quarter after the horizon, or one before it that is not allowed."""
        if quarter is None:
            return
        horizon = self.scenario.horizon
        first = quarter_index(horizon.start)
        passed = quarter_index(quarter) - first
        if passed >= horizon.quarters or (passed < 0 and not earlier):
            cause = f"{name}: {path[-1]} {quarter} is outside the horizon"
            last = quarter_name(first + horizon.quarters - 1)
            self.add("DC015", cause, path, help=f"give a quarter from {horizon.start} to {last}")

    def unique(self, ids: Iterable[str], path: Path) -> None:
        """Reject duplicate ids."""
        seen: set[str] = set()
        for i, key in enumerate(ids):
            if key in seen:
                self.add("DC011", f"the id {key!r} occurs twice", (*path, i, "id"))
            seen.add(key)

    def one_of(self, reference: str, known: Iterable[str], what: str, path: Path) -> None:
        """Reject a name that this scenario does not define."""
        known = list(known)
        if reference not in known:
            self.add(
                "DC010",
                f"no {what} {reference!r} in this scenario",
                path,
                hint=did_you_mean(reference, known),
            )

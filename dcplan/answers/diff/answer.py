"""Comparison of two answers: inputs, decisions and metrics that differ."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dcplan.answers.diff.metrics import by_importance, metric_changes
from dcplan.provenance import Path
from dcplan.result import Cell, Result
from dcplan.scenario.load import Question
from dcplan.scenario.tree import Tree
from dcplan.specs.plan.decided import DECISIONS
from dcplan.specs.regression import diff as specs
from dcplan.units import quarter_index, quarter_name

HOW = (("accelerators", "on"), ("precision", "in"), ("start_month", "from month"))
"""Further cells of a run, with their words."""
UNCOMPARED = ("overrides", "scenarios", "sweep", "extends", "catalogs", "description")
"""Parts of a file that describe its composition, not the plan."""


@dataclass(frozen=True)
class Side:
    """One of two answers, with its question unless it is a saved result."""

    result: Result
    question: Question | None = None
    label: str = ""


@dataclass(frozen=True)
class Differences:
    """Differences between two answers to one scenario."""

    metrics: list[specs.MetricChange]
    inputs: list[specs.InputChange]
    decisions: list[specs.DecisionChange]

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return bool(self.metrics or self.inputs or self.decisions)


def differences(name: str, before: Side, after: Side) -> Differences:
    """Return inputs, decisions and metrics that differ."""
    a, b = before.result, after.result
    both = bool(a.metrics and b.metrics)
    return Differences(
        by_importance(a.verb, list(metric_changes(name, a, b))) if both else [],
        list(_inputs(name, before, after)),
        list(_decisions(name, a, b)) if both else [],
    )


def _inputs(name: str, before: Side, after: Side) -> Iterator[specs.InputChange]:
    """Return the differing values of the scenario, then those of the catalogs used by both."""
    seen: set[str] = set()
    if before.question is not None and after.question is not None:
        old, new = (
            leaves(side.question.tree) for side in (before, after) if side.question is not None
        )
        trees = before.question.tree, after.question.tree
        for key in sorted(old.keys() | new.keys()):
            seen.add(key)
            pair = [
                (side.question, own[key][0])
                for side, own in ((before, old), (after, new))
                if key in own
            ]
            if (
                len(pair) == 2
                and _same(pair[0][1], pair[1][1])
                and _file_of(*pair[0]) == _file_of(*pair[1])
            ):
                continue
            pairs = list(zip(trees, (old, new), strict=True))
            was, now = (
                _text(own[key][0]) if key in own else _used(side, key)
                for (_, own), side in zip(pairs, (before, after), strict=True)
            )
            at = [str(tree.place(own[key][1])) if key in own else "" for tree, own in pairs]
            both = was is not None and now is not None
            change = specs.Change.CHANGED if both else _change(key, old, new)
            yield specs.InputChange(name, change, key, was, now, at[0], at[1])
    yield from _used_inputs(name, before, after, seen)


def _used(side: Side, key: str) -> Cell:
    """Return the value that an answer used if its scenario gives none."""
    # this import loads the solver, which known plans do not need
    from dcplan.scenario.set_keys import set_key

    question = side.question
    if question is None:
        return None
    rows = (r for r in side.result.inputs if set_key(str(r["key"]), question) == key)
    return next((_text(r["value"]) for r in rows), None)


def _used_inputs(
    name: str, before: Side, after: Side, seen: set[str]
) -> Iterator[specs.InputChange]:
    """Return the differing catalog values used by both answers.

    For saved results, inputs of only one are returned too.
    """
    first, second = ({str(r["key"]): r for r in side.result.inputs} for side in (before, after))
    for key in sorted(first.keys() ^ second.keys()) if not seen else ():
        row = first.get(key) or second[key]
        if row["status"] == "input":
            pair = [side.get(key) or _default_of(key, side) for side in (first, second)]
            was, now = (None if x is None else _text(x["value"]) for x in pair)
            at = ["" if x is None else str(x.get("at") or "") for x in pair]
            both = None not in pair
            change = specs.Change.CHANGED if both else _change(key, first, second)
            yield specs.InputChange(name, change, key, was, now, at[0], at[1])
    for key in sorted((first.keys() & second.keys()) - seen):
        one, other = first[key], second[key]
        compared = {"input", "derived"} if seen else {"derived"}
        if compared & {one["status"], other["status"]} or _same(one["value"], other["value"]):
            continue
        yield specs.InputChange(
            scenario=name,
            change=specs.Change.CHANGED,
            key=key,
            before=_text(one["value"]),
            after=_text(other["value"]),
            before_at=str(one.get("at") or ""),
            after_at=str(other.get("at") or ""),
        )


def _default_of(key: str, rows: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the catalog parameter that an answer used where its scenario gives no value.

    A parameter has the name of the field with dashes: ``finance.discount-rate``.
    """
    return rows.get(key.replace("_", "-"))


def _file_of(question: Question | None, value: Any) -> bytes | None:
    """Return the content of a model file named by a scenario."""
    if question is None or not isinstance(value, str) or not value.endswith(".json"):
        return None
    path = question.folder / value
    return path.read_bytes() if path.is_file() else None


def _same(a: Any, b: Any) -> bool:
    if (
        isinstance(a, bool)
        or isinstance(b, bool)
        or not isinstance(a, int | float)
        or not isinstance(b, int | float)
    ):
        return type(a) is type(b) and bool(a == b)
    return float(a) == float(b)


def _change(key: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> specs.Change:
    if key not in new:
        return specs.Change.REMOVED
    return specs.Change.CHANGED if key in old else specs.Change.ADDED


def _text(value: Any) -> Cell:
    return value if isinstance(value, str | int | float) or value is None else json.dumps(value)


def leaves(tree: Tree) -> dict[str, tuple[Any, Path]]:
    """Return every value of a resolved scenario with its path, by its key for ``--set``.

    Expectations are excluded, because they judge a plan and do not define it.
    """
    found: dict[str, tuple[Any, Path]] = {}

    def walk(node: Any, key: str, path: Path) -> None:
        if isinstance(node, Mapping) and node:
            for name, child in node.items():
                word = f'"{name}"' if "." in str(name) else str(name)
                own = key if name == "value" and key else f"{key}.{word}" if key else word
                walk(child, own, (*path, name))
        elif (
            isinstance(node, list)
            and node
            and all(isinstance(x, Mapping) and "id" in x for x in node)
        ):
            for i, child in enumerate(node):
                word = f'"{child["id"]}"' if "." in str(child["id"]) else str(child["id"])
                walk(child, f"{key}.{word}", (*path, i))
        else:
            found[key] = (node, path)

    for name, node in tree.data.items():
        if name not in (*UNCOMPARED, "expect"):
            walk(node, str(name), (name,))
    return found


def _decisions(name: str, a: Result, b: Result) -> Iterator[specs.DecisionChange]:
    """Return the decisions for a place, an item and a quarter whose amount differs."""
    old, new = _decided(a), _decided(b)
    for key in sorted(old.keys() | new.keys(), key=lambda k: tuple(map(str, k))):
        before, after = old.get(key), new.get(key)
        if before == after:
            continue
        change = specs.Change.CHANGED
        if before is None or after is None:
            change = specs.Change.ADDED if before is None else specs.Change.REMOVED
        decision, hall, cooling, item, quarter = key
        where = " ".join(x for x in (hall, f"({cooling})" if cooling else "") if x)
        yield specs.DecisionChange(
            name, change, decision, where, item, quarter, before=before, after=after
        )


def _decided(result: Result) -> dict[tuple[str, str, str, str, str], Cell]:
    table = result.tables.get(DECISIONS.name)
    start = result.scenario.get("start")
    found: dict[tuple[str, str, str, str, str], Cell] = {}
    for row in table.records() if table is not None else ():
        when = row.get("quarter")
        text = "" if when is None else str(when)
        if isinstance(when, int | float) and isinstance(start, str):
            text = quarter_name(quarter_index(start) + int(when))
        amount = row.get("amount")
        extra = [f"{word} {row[column]}" for column, word in HOW if row.get(column) is not None]
        key = (
            str(row["decision"]),
            str(row.get("hall") or ""),
            str(row.get("cooling") or ""),
            str(row.get("item") or ""),
            text,
        )
        found[key] = (
            f"{amount:g} {' '.join(extra)}" if extra and isinstance(amount, int | float) else amount
        )
    return found

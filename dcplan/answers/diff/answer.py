"""Two answers side by side: inputs, decisions and figures that differ, and whether a difference is
proved.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dcplan.provenance import Path
from dcplan.result import Cell, Result, Table
from dcplan.scenario.load import Question
from dcplan.scenario.tree import Tree
from dcplan.units import quarter_index, quarter_name

INPUTS = ("scenario", "change", "key", "before", "after", "before_at", "after_at")
DECISIONS = ("scenario", "change", "decision", "where", "item", "quarter", "before", "after")
METRICS = (
    "scenario",
    "metric",
    "before",
    "after",
    "delta",
    "delta_frac",
    "unit",
    "direction",
    "verdict",
    "within_gap",
)
SAME = 1e-6
"""Relative difference below which two figures are the same."""
LOWER = re.compile(
    r"^(cost\.(?!residual)|carbon\.|water\.|power\.(annual_pue|peak)|unmet\.|futures\.|time\.|solver\.gap"
    r"|train\..*\.(days.*|cost_usd)$|owned\.|rented\.|hybrid\.)"
)
HIGHER = re.compile(r"^(cost\.residual_usd|compute\.|.*(mfu|goodput)_frac$|tokens_per_s)")
HOW = (("accelerators", "on"), ("precision", "in"), ("start_month", "from month"))
"""What a run is beside its amount."""
UNCOMPARED = ("overrides", "scenarios", "sweep", "extends", "catalogs", "description")
"""Parts of a file that say how it is put together, not what is planned."""


@dataclass(frozen=True)
class Side:
    """One of two answers; its question where it is not a saved result."""

    result: Result
    question: Question | None = None
    label: str = ""


def differences(name: str, before: Side, after: Side) -> dict[str, Table]:
    """Rows of inputs, decisions and metrics that differ."""
    a, b = before.result, after.result
    return {
        "metrics_changed": Table(
            METRICS, tuple(_metrics(name, a, b)) if a.metrics and b.metrics else ()
        ),
        "inputs_changed": Table(INPUTS, tuple(_inputs(name, before, after))),
        "decisions_changed": Table(
            DECISIONS, tuple(_decisions(name, a, b)) if a.metrics and b.metrics else ()
        ),
    }


def _inputs(name: str, before: Side, after: Side) -> Iterator[tuple[Cell, ...]]:
    """Values of the scenario by their keys; then those of the catalogs that both answers used."""
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
            values = [
                _text(own[key][0]) if key in own else _used(side, key)
                for (_, own), side in zip(pairs, (before, after), strict=True)
            ]
            places = [str(tree.place(own[key][1])) if key in own else "" for tree, own in pairs]
            change = "changed" if None not in values else _change(key, old, new)
            yield name, change, key, *values, *places
    yield from _used_inputs(name, before, after, seen)


def _used(side: Side, key: str) -> Cell:
    """The value that an answer used where its scenario gives none: a default or the catalog's."""
    from dcplan.scenario.set_keys import (
        set_key,
    )  # imports the solver, which known plans do not need

    question = side.question
    if question is None:
        return None
    rows = (r for r in side.result.inputs if set_key(str(r["key"]), question) == key)
    return next((_text(r["value"]) for r in rows), None)


def _used_inputs(
    name: str, before: Side, after: Side, seen: set[str]
) -> Iterator[tuple[Cell, ...]]:
    """Values of the catalogs that both answers used; of saved results, what either was given, too."""
    first, second = ({str(r["key"]): r for r in side.result.inputs} for side in (before, after))
    for key in sorted(first.keys() ^ second.keys()) if not seen else ():
        row = first.get(key) or second[key]
        if row["status"] == "input":
            sides = [_text(side[key]["value"]) if key in side else None for side in (first, second)]
            places = [
                str(side[key].get("at") or "") if key in side else "" for side in (first, second)
            ]
            yield name, _change(key, first, second), key, *sides, *places
    for key in sorted((first.keys() & second.keys()) - seen):
        one, other = first[key], second[key]
        told = {"input", "derived"} if seen else {"derived"}
        if told & {one["status"], other["status"]} or _same(one["value"], other["value"]):
            continue
        yield (
            name,
            "changed",
            key,
            _text(one["value"]),
            _text(other["value"]),
            str(one.get("at") or ""),
            str(other.get("at") or ""),
        )


def _file_of(question: Question | None, value: Any) -> bytes | None:
    """What stands in a model file that a scenario names."""
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


def _change(key: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    return "changed" if key in old and key in new else "added" if key in new else "removed"


def _text(value: Any) -> Cell:
    return value if isinstance(value, str | int | float) or value is None else json.dumps(value)


def leaves(tree: Tree) -> dict[str, tuple[Any, Path]]:
    """Every value of a resolved scenario by the key that ``--set`` calls it, and its path.

    Expectations judge a plan and are not among what it is made of.
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


def _decisions(name: str, a: Result, b: Result) -> Iterator[tuple[Cell, ...]]:
    """What is decided for a place, an item and a quarter, in its amount."""
    old, new = _decided(a), _decided(b)
    for key in sorted(old.keys() | new.keys(), key=lambda k: tuple(map(str, k))):
        before, after = old.get(key), new.get(key)
        if before == after:
            continue
        change = "added" if before is None else "removed" if after is None else "changed"
        decision, hall, cooling, item, quarter = key
        where = " ".join(x for x in (hall, f"({cooling})" if cooling else "") if x)
        yield name, change, decision, where, item, quarter, before, after


def _decided(result: Result) -> dict[tuple[str, str, str, str, str], Cell]:
    table = result.tables.get("decisions")
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


def _metrics(name: str, a: Result, b: Result) -> Iterator[tuple[Cell, ...]]:
    room = _gap_usd(a, b)
    for key in (*a.metrics, *(k for k in b.metrics if k not in a.metrics)):
        one, other = a.metrics.get(key), b.metrics.get(key)
        before, after = (m.value if m is not None else _missing(key) for m in (one, other))
        unit = next(m.unit for m in (one, other) if m is not None)
        way = "lower" if LOWER.search(key) else "higher" if HIGHER.search(key) else "neutral"
        if not isinstance(before, int | float) or not isinstance(after, int | float):
            if before != after:
                yield name, key, before, after, None, None, unit, way, "", False
            continue
        delta = float(after) - float(before)
        if abs(delta) <= SAME * max(abs(float(before)), abs(float(after))) or key.startswith(
            "solver."
        ):
            continue
        close = key.startswith("cost.") and abs(delta) <= room
        frac = delta / abs(float(before)) if before else None
        yield (
            name,
            key,
            before,
            after,
            delta,
            frac,
            unit,
            way,
            _verdict(delta, way, close=close),
            close,
        )


def _missing(key: str) -> float | None:
    """A system that is not bought has no racks; other figures are not there at all."""
    return 0.0 if key.split(".", maxsplit=1)[0] in ("racks", "accelerators", "switches") else None


def _gap_usd(a: Result, b: Result) -> float:
    """How far apart two costs may be though no plan is proved better than the other."""
    rooms = []
    for result in (a, b):
        gap, cost = result.metrics.get("solver.gap_frac"), result.metrics.get("cost.npv_usd")
        if (
            gap
            and cost
            and isinstance(gap.value, int | float)
            and isinstance(cost.value, int | float)
        ):
            rooms.append(gap.value * abs(cost.value))
    return max(rooms, default=0.0)


def _verdict(delta: float, way: str, *, close: bool) -> str:
    if close:
        return "≈ within gap"
    if way == "neutral":
        return ""
    return "better" if (delta < 0) == (way == "lower") else "worse"

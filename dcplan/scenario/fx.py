"""Conversion of prices in other currencies to USD at the scenario's own rates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dcplan.errors import Problem, did_you_mean
from dcplan.provenance import Path
from dcplan.scenario.tree import Tree

CURRENCY, USD = "currency", "USD"
SCALED = ("value", "low", "high")


def in_usd(tree: Tree) -> tuple[Tree, list[Problem]]:
    """Convert every ``{value, currency}`` to USD, and list the values without a rate.

    ``fx: {EUR: 1.08}`` is USD for one EUR. The note of a converted value holds the original amount.
    """
    if not isinstance(tree.data, dict):
        return tree, []
    rates, problems = _rates(tree)
    data = {
        k: v if k == "fx" else _walk(v, (k,), rates, tree, problems) for k, v in tree.data.items()
    }
    return replace(tree, data=data), problems


def _rates(tree: Tree) -> tuple[dict[str, float], list[Problem]]:
    """Return USD for one unit of each currency; the schema check reports wrong values."""
    given = tree.data.get("fx")
    found: dict[str, float] = {USD: 1.0}
    problems: list[Problem] = []
    for name, entry in given.items() if isinstance(given, Mapping) else ():
        value = entry.get("value") if isinstance(entry, Mapping) else entry
        if name == USD:
            problems.append(
                tree.problem(
                    "DC015", "fx must give USD for one unit of another currency", ("fx", name)
                )
            )
        elif (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and math.isfinite(value)
            and value > 0
        ):
            found[str(name)] = float(value)
        else:  # amounts in this currency are no second problem
            found[str(name)] = 1.0
    return found, problems


def _walk(
    node: Any, at: Path, rates: Mapping[str, float], tree: Tree, problems: list[Problem]
) -> Any:
    if isinstance(node, list):
        return [_walk(x, (*at, i), rates, tree, problems) for i, x in enumerate(node)]
    if not isinstance(node, Mapping):
        return node
    if CURRENCY in node and "value" in node:
        return _converted(node, at, rates, tree, problems)
    return {k: _walk(v, (*at, k), rates, tree, problems) for k, v in node.items()}


def _converted(
    node: Mapping[str, Any],
    at: Path,
    rates: Mapping[str, float],
    tree: Tree,
    problems: list[Problem],
) -> dict[str, Any]:
    rest = {k: v for k, v in node.items() if k != CURRENCY}
    name, place = node[CURRENCY], (*at, CURRENCY)
    if not any("usd" in str(part) for part in at):
        cause = f"{'.'.join(map(str, at))} is not an amount of money and cannot have a currency"
        problems.append(tree.problem("DC015", cause, place))
        return rest
    if not isinstance(name, str) or name not in rates:
        cause = f"no rate for {name}; set fx.{name}, the price of one {name} in USD"
        hint = did_you_mean(str(name), rates)
        problems.append(tree.problem("DC003", cause, place, hint=hint, help=f"fx: {{{name}: ...}}"))
        return rest
    if name == USD:
        return rest
    was = (
        f"{node['value']:,g} {name} at {rates[name]:g} USD"
        if isinstance(node["value"], int | float)
        else ""
    )
    note = "; ".join(str(x) for x in (rest.get("note"), was) if x)
    moved = {k: rest[k] * rates[name] for k in SCALED if isinstance(rest.get(k), int | float)}
    return {**rest, **moved, "note": note}

"""Keys under which ``--set`` changes the inputs of an answer."""

from __future__ import annotations

from typing import Any

from dcplan.provenance import Path
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Scenario
from dcplan.scenario.tree import dotted

FIELDS = {
    "finance.discount-rate": "finance.discount_rate",
    "finance.hardware-life-years": "finance.hardware_life_years",
}
"""Fields of the scenario whose default is a catalog parameter."""


def set_key(key: str, question: Question) -> str:
    """Return the ``--set`` key of an input: a field of the scenario or of a catalog row, or a
    catalog parameter.

    An overlay changes cloud prices and catalog rows. An element of a list is named by its number.
    """
    key = dotted(key)
    kind, _, rest = key.partition(".")
    if key in FIELDS:
        return FIELDS[key]
    if kind == "cloud":
        offer, _, field = rest.rpartition(".")
        if not offer:
            return key
        return f"cloud.prices.{quoted(offer)}.{field}"
    if kind in (
        "sites",
        "workloads",
        "supply",
        "fleet",
        "systems",
        "finance",
    ) and rest not in _known(kind, question):
        return key
    rows = sorted(_known(kind, question), key=len, reverse=True)
    row = next((r for r in rows if rest == r or rest.startswith(r + ".")), None)
    if row is None:
        return key
    return f"prices.{quoted(row)}.{rest[len(row) + 1 :] or 'value'}"


def _known(kind: str, question: Question) -> list[str]:
    """Return the ids and aliases of a catalog kind."""
    rows = question.catalog.rows.get(kind, {})
    return [*rows, *(alias for row in rows.values() for alias in row.aliases)]


def quoted(key: str) -> str:
    """Return a part of a dotted key, in quotation marks if it has a dot itself."""
    return f'"{key}"' if "." in key else key


def key_of(path: Path, scenario: Scenario) -> str:
    """Return the ``--set`` key of a path; an element of a list is named by its id if it has one.

    Examples
    --------
    >>> from dcplan.scenario.load import load
    >>> key_of(("sites", 0, "utility_mw"), load("starter").scenario)
    'sites.site-a.utility_mw'
    """
    node: Any = scenario
    words = []
    for part in path:
        node = _child(node, part)
        named = getattr(node, "id", None) if isinstance(part, int) else None
        words.append(quoted(str(part if named is None else named)))
    return ".".join(words)


def value_at(path: Path, scenario: Scenario) -> Any:
    """Return the value of a typed scenario at a path; None if the scenario leaves it out."""
    node: Any = scenario
    for part in path:
        node = _child(node, part)
    return node


def _child(node: Any, part: str | int) -> Any:
    if isinstance(part, int):
        return node[part]
    return node.get(part) if isinstance(node, dict) else getattr(node, part, None)

"""Checks of catalog names and of lists by quarter on the raw data, so that other errors do not hide
them.
"""

from __future__ import annotations

from dcplan.catalog.loader import Catalog
from dcplan.catalog.releases import find_stack, unknown_stack
from dcplan.catalog.schema import Row
from dcplan.errors import Problem, did_you_mean
from dcplan.scenario.series import matches, series_fields
from dcplan.scenario.tree import Tree

NAMES: tuple[tuple[tuple[str, ...], str], ...] = (
    (("sites", "*", "location"), "sites"),
    (("sites", "*", "halls", "*", "cooling", "*"), "cooling"),
    (("sites", "*", "halls", "*", "upgrades", "*", "cooling"), "cooling"),
    (("systems", "*"), "systems"),
    (("fabrics", "*"), "fabrics"),
    (("fabric", "id"), "fabrics"),
    (("storage", "tiers", "*"), "storage_tiers"),
    (("fleet", "system"), "systems"),
    (("assets", "*", "system"), "systems"),
    (("assets", "*", "fabric"), "fabrics"),
    (("orders", "*", "system"), "systems"),
    (("supply", "*", "system"), "systems"),
    (("finance", "leases", "*", "systems", "*"), "systems"),
    (("cloud", "offers", "*"), "cloud"),
    (("sites", "*", "onsite", "*", "id"), "onsite"),
    (("links", "*", "optic"), "optics"),
    (("links", "*", "router"), "switches"),
    (("workloads", "training", "*", "model"), "models"),
    (("workloads", "training", "*", "stack"), "stacks"),
    (("workloads", "post_training", "*", "model"), "models"),
    (("workloads", "post_training", "*", "stack"), "stacks"),
    (("workloads", "post_training", "*", "rl", "rollout_precision"), "formats"),
    (("workloads", "capacity", "*", "reference", "model"), "models"),
    (("workloads", "queue", "*", "reference", "model"), "models"),
    (("fleet", "reference", "model"), "models"),
    (("finance", "tax", "depreciation"), "depreciation"),
)
"""Fields of a scenario that name catalog rows: path pattern -> kind."""


def unknown_names(tree: Tree, catalog: Catalog) -> list[Problem]:
    """Find names of catalog rows that do not exist, in the raw data so that other errors do not
    hide them.
    """
    problems = []
    for pattern, kind in NAMES:
        for path, name in matches(tree.data, pattern):
            if not isinstance(name, str) or (kind == "models" and name.endswith(".json")):
                continue
            if kind == "stacks":
                if find_stack(catalog, name) is None:
                    found = unknown_stack(catalog, name)
                    problems.append(
                        tree.problem(
                            found.code, found.cause, path, hint=found.hint, help=found.help
                        )
                    )
            elif catalog.find(kind, name, Row) is None:
                cause, help_text = f"no {kind} row {name!r}", f"dcplan catalog list {kind}"
                hint = did_you_mean(name, catalog.rows[kind])
                problems.append(tree.problem("DC010", cause, path, hint=hint, help=help_text))
    return problems


def wrong_lengths(tree: Tree) -> list[Problem]:
    """Find lists by quarter whose length is not the number of quarters."""
    horizon = tree.data.get("horizon")
    quarters = horizon.get("quarters") if isinstance(horizon, dict) else None
    if not isinstance(quarters, int):
        return []
    problems = []
    for pattern in series_fields():
        for path, value in matches(tree.data, pattern):
            if isinstance(value, list) and len(value) not in (1, quarters):
                cause = f"{path[-1]}: {len(value)} values for {quarters} quarters; give 1 value, or {quarters}"
                problems.append(tree.problem("DC012", cause, path))
    return problems

"""Checks of prices that a scenario gives for rows of the catalog."""

from __future__ import annotations

from typing import Any

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Offer
from dcplan.catalog.schema.market import TERMS
from dcplan.errors import Problem, did_you_mean
from dcplan.scenario.checks.checker import Checker
from dcplan.scenario.schema import Scenario
from dcplan.scenario.tree import Tree


def price_changes(
    scenario: Scenario, catalog: Catalog, tree: Tree
) -> tuple[dict[str, dict[str, dict[str, Any]]], list[Problem]]:
    """Sort ``prices:`` by catalog kind; an id that is in no kind is a problem."""
    changes: dict[str, dict[str, dict[str, Any]]] = {}
    problems = []
    for reference, fields in scenario.prices.items():
        kinds = catalog.kinds_of(reference)
        if not kinds:
            known = [key for table in catalog.rows.values() for key in table]
            cause = f"prices: no catalog row {reference!r}"
            problems.append(
                tree.problem(
                    "DC010",
                    cause,
                    ("prices", reference),
                    key=True,
                    hint=did_you_mean(reference, known),
                    help="dcplan catalog list",
                )
            )
            continue
        changes.setdefault(kinds[0], {})[reference] = fields
    return changes, problems


def check_cloud_prices(check: Checker) -> None:
    """Check that own cloud prices name an offer once, and a price that offers have."""
    cloud = check.scenario.cloud
    if cloud is None:
        return
    first: dict[tuple[str, str], str] = {}
    for reference, prices in cloud.prices.items():
        check.need("cloud", reference, Offer, ("cloud", "prices", reference))
        row = check.catalog.find("cloud", reference, Offer)
        for key in prices if row is not None else ():
            other = first.setdefault((row.id if row else "", key), reference)
            if other != reference:
                cause = f"{reference} is another name of {other}; {key} is given twice"
                check.add("DC015", cause, ("cloud", "prices", reference, key))
        for key in prices:
            known = [f"{term.replace('-', '_')}_usd_per_h" for term in TERMS]
            if key not in known:
                path = ("cloud", "prices", reference, key)
                check.problems.append(
                    check.tree.problem(
                        "DC002",
                        f"{key}: unknown price",
                        path,
                        key=True,
                        hint=did_you_mean(key, known),
                    )
                )

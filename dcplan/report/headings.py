"""Headings of tables for people, their order, and columns that only ``--verbose`` shows."""

from __future__ import annotations

import functools

from dcplan.specs import registry
from dcplan.specs.table import Shown

SECTIONS = {
    "checked": "Checked",
    "states": "Scenarios that came, went, or end otherwise",
    "metrics_changed": "Figures that differ",
    "inputs_changed": "Inputs that differ",
    "decisions_changed": "Decisions that differ",
    "hedge": "One plan for several variants",
    "flips": "What would change a decision",
    "racks": "What to order",
    "jobs": "Training runs",
    "onsite": "Power at the site over a year",
    "halls": "Halls in the last quarter",
    "power": "Site power",
    "lead_times": "Weeks from order to delivery",
    "ends": "Runs on the calendar",
    "network": "Compute fabric in the last quarter",
    "storage": "Shared storage",
    "demand": "Capacity asked, and what serves it",
    "cloud": "Rented accelerators",
    "futures": "The plan in sampled futures",
    "drivers": "What drives the cost in them",
    "commitments": "Commitments to rented nodes",
    "cost": "Cost over the horizon (undiscounted)",
    "cashflow": "Cash by quarter (undiscounted)",
    "bands": "Beside public ranges",
    "why_not": "What one rack of it would cost more",
    "what_if": "The plan with the change, where it differs",
    "binding": "Limits that bind, and what one more unit changes the cost by",
    "limits": "Limits that bind, and what one more unit changes the cost by, whole choices fixed",
    "stranded": "Idle in the last quarter",
    "conflict": "Why there is no plan",
    "remedies": "Smallest changes that would allow a plan",
    "alternatives": "Ways out, each tried",
    "values": "Values",
    "fields": "What the field is",
    "metrics": "What the metric is",
    "columns": "What the column is",
    "left_out": "Left out, and why",
}
HIDDEN_COLUMNS = {"racks": ("cooling",), "limits": ("place",), "bands": ("source",)}


@functools.cache
def titles(verb: str) -> dict[str, str]:
    """Return the tables that people see of a verb's answer, by name with heading, in their order."""
    declared = {
        name: spec.title
        for name, spec in registry.tables(verb).items()
        if spec.shown is not Shown.DATA
    }
    own = {name: title for name, title in declared.items() if name not in SECTIONS}
    return own | {name: declared.get(name, title) for name, title in SECTIONS.items()}


def title_of(verb: str, name: str) -> str:
    """Return the heading of a table; its name where it has none."""
    return titles(verb).get(name, name)


def hidden_columns(verb: str, name: str) -> tuple[str, ...]:
    """Return the columns of a table that people see only when they ask for them."""
    spec = registry.tables(verb).get(name)
    if spec is None:
        return HIDDEN_COLUMNS.get(name, ())
    return tuple(c.name for c in spec.columns if c.shown is not Shown.ALWAYS)

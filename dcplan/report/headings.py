"""Headings of tables for people, their order, and columns that only ``--verbose`` shows."""

from __future__ import annotations

import functools

from dcplan.specs import registry
from dcplan.specs.table import Shown

SECTIONS = {
    "configs": "Ways to run each job",
    "runs": "Runs",
    "summary": "Summary",
    "sources": "What was asked",
    "figures": "Published and computed",
    "phases": "Phases",
    "layout": "Layout",
    "sizes": "Cluster sizes",
    "fewer": "The same run on fewer accelerators",
    "layouts": "Fastest layouts (-v: those that use less memory too)",
    "breakdown": "Step time",
    "memory": "Memory of the fullest rank",
    "run_storage": "Shared storage that the run asks for",
    "run_cost": "The run bought, amortised and rented",
    "losses": "Where wall-clock time is lost",
    "stops": "What stops the run",
    "replay": "Played through stop by stop (without slow parts, outages and the step time's own interval)",
    "uncertainty": "What makes the end unsure",
    "values": "Values",
    "left_out": "Left out, and why",
}
HIDDEN_COLUMNS = {
    "layouts": ("among_fastest",),
    "figures": ("published_low", "published_high", "low", "high", "note"),
    "sources": ("source", "url", "note"),
}


@functools.cache
def titles(verb: str) -> dict[str, str]:
    """Return the tables that people see of a verb's answer, by name with heading, in their order."""
    declared = {
        name: spec.title
        for name, spec in registry.tables(verb).items()
        if spec.shown is not Shown.DATA
    }
    return {name: title for name, title in SECTIONS.items() if name not in declared} | declared


def title_of(verb: str, name: str) -> str:
    """Return the heading of a table; its name where it has none."""
    return titles(verb).get(name, name)


def hidden_columns(verb: str, name: str) -> tuple[str, ...]:
    """Return the columns of a table that people see only when they ask for them."""
    spec = registry.tables(verb).get(name)
    if spec is None:
        return HIDDEN_COLUMNS.get(name, ())
    return tuple(c.name for c in spec.columns if c.shown is not Shown.ALWAYS)

"""Headings of tables for people, their order, and columns that only ``--verbose`` shows."""

from __future__ import annotations

import functools

from dcplan.result import Metric
from dcplan.specs import registry
from dcplan.specs.metric import MetricSpec
from dcplan.specs.table import Shown


@functools.cache
def titles(verb: str) -> dict[str, str]:
    """Return the tables that people see of a verb's answer, by name with heading, in their order."""
    return {
        name: spec.title
        for name, spec in registry.tables(verb).items()
        if spec.shown is not Shown.DATA
    }


def title_of(verb: str, name: str) -> str:
    """Return the heading of a table; its name where it has none."""
    return titles(verb).get(name, name)


def label_of(spec: MetricSpec | None, metric: Metric) -> str:
    """Return the short name of a metric for people."""
    return spec.label if spec is not None and spec.label else metric.label


def hidden_columns(verb: str, name: str) -> tuple[str, ...]:
    """Return the columns of a table that people see only when they ask for them."""
    spec = registry.tables(verb).get(name)
    if spec is None:
        return ()
    return tuple(c.name for c in spec.columns if c.shown is not Shown.ALWAYS)

"""All declared metrics and tables, by verb."""

from __future__ import annotations

import functools
import importlib
from typing import Any

from dcplan.specs.metric import MetricSpec
from dcplan.specs.table import TableSpec

VERBS: dict[str, tuple[str, ...]] = {
    "plan": (
        "plan.metrics",
        "plan.decided",
        "plan.fleet",
        "plan.purchases",
        "plan.places.site",
        "plan.places.candidates",
        "plan.places.network",
        "plan.work",
        "plan.simulation",
        "plan.services",
        "plan.workloads",
        "plan.queue",
        "plan.money",
        "cost.statements",
        "plan.limits",
        "plan.replay",
        "sustainability",
        "plan.book",
        "no_plan",
    ),
    "explain": ("explain", "no_plan"),
    "diff": ("regression.diff", "regression.compared"),
    "test": ("regression.gates",),
    "sweep": ("sweep",),
    "frontier": ("frontier", "no_plan"),
    "check": ("check", "no_plan"),
    "train": ("train.layouts", "train.run", "train.post_training", "train.fine_tuning", "no_plan"),
    "serve": ("serve.service", "serve.passes", "serve.options"),
    "demand": (
        "demand.log",
        "demand.jobs",
        "demand.sizes",
        "demand.requests",
        "demand.incidents",
        "demand.bills",
        "demand.counters",
    ),
    "fabric": ("fabric.network", "fabric.use"),
    "facility": (
        "facility.cooling",
        "facility.hall",
        "facility.equipment",
        "facility.energy",
        "sustainability",
    ),
    "validate": (
        "validation.validate",
        "validation.serving",
        "validation.prices",
        "validation.post_training",
    ),
    "calibrate": ("validation.calibrate",),
    "import": ("imports",),
    "catalog": ("reference.catalog",),
    "doctor": ("reference.doctor",),
    "tco": (
        "tco.figures",
        "tco.offers",
        "tco.risks",
        "tco.costs",
        "cost.schedules",
        "cost.statements",
        "cost.flows",
        "plan.tco_book",
        "plan.plans_book",
        "plan.book",
    ),
}
"""Verb -> modules of ``dcplan.specs`` whose declarations its results may hold."""


@functools.cache
def metrics(verb: str) -> tuple[MetricSpec, ...]:
    """Return the metrics of a verb in the order of their declaration.

    Examples
    --------
    >>> [m.unit for m in metrics("facility") if m.key == "power.peak_electrical_mw"]
    ['MW']
    """
    return tuple(x for x in _declared(verb) if isinstance(x, MetricSpec))


@functools.cache
def table_specs(verb: str) -> tuple[TableSpec[Any], ...]:
    """Return all tables of a verb; a name occurs twice if it has two kinds of rows.

    Examples
    --------
    >>> [x.row.__name__ for x in table_specs("fabric") if x.name == "tiers"]
    ['TierRow', 'TorusRow']
    """
    return tuple(x for x in _declared(verb) if isinstance(x, TableSpec))


@functools.cache
def tables(verb: str) -> dict[str, TableSpec[Any]]:
    """Return the tables of a verb by name, in the order of their declaration.

    If two tables share a name, the first is taken: a verb's own tables precede shared ones.

    Examples
    --------
    >>> tables("facility")["heat"].title
    'Heat by path'
    """
    found: dict[str, TableSpec[Any]] = {}
    for x in table_specs(verb):
        found.setdefault(x.name, x)
    return found


@functools.cache
def metric_of(verb: str, key: str) -> MetricSpec | None:
    """Return the declaration of a result key of a verb; an exact key precedes a pattern.

    Examples
    --------
    >>> found = metric_of("plan", "racks.dgx-h200")
    >>> found.key if found else None
    'racks.<system>'
    """
    fitting = [m for m in metrics(verb) if m.fits(key)]
    return min(fitting, key=lambda m: len(m.ids), default=None)


def _declared(verb: str) -> list[Any]:
    modules = (importlib.import_module(f"dcplan.specs.{name}") for name in VERBS.get(verb, ()))
    return [x for module in modules for x in vars(module).values()]

"""All declared metrics and tables, by verb."""

from __future__ import annotations

import functools
import importlib
from typing import Any

from dcplan.specs.metric import MetricSpec
from dcplan.specs.table import TableSpec

VERBS: dict[str, tuple[str, ...]] = {"facility": ("facility",)}
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
def tables(verb: str) -> dict[str, TableSpec[Any]]:
    """Return the tables of a verb by name, in the order of their declaration.

    Examples
    --------
    >>> tables("facility")["heat"].title
    'Heat by path'
    """
    return {x.name: x for x in _declared(verb) if isinstance(x, TableSpec)}


def _declared(verb: str) -> list[Any]:
    modules = (importlib.import_module(f"dcplan.specs.{name}") for name in VERBS.get(verb, ()))
    return [x for module in modules for x in vars(module).values()]

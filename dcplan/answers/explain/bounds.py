"""Bounds between which an input is moved: given, from the catalog, or a default span."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from dcplan.catalog.schema import Parameter
from dcplan.inputs.log import Input
from dcplan.inputs.residual_value import residual_names
from dcplan.inputs.stand_ins import RESIDUAL, SHARE_OF_WORK, THROUGHPUT, span_of
from dcplan.provenance import Quantity
from dcplan.scenario.load import Question
from dcplan.scenario.set_keys import FIELDS
from dcplan.units import unit_of

DEFAULT_SPAN_FRAC = 0.5
"""Bounds of an input without any, as a share of its value below and above it. It is a convention,
not an estimate: wide enough to find a decision that an ordinary error of a forecast changes."""


class Origin(StrEnum):
    """Where the bounds of an input come from."""

    GIVEN = "given"
    """Bounds of the scenario's value, or of the catalog's value in use."""
    CATALOG = "catalog"
    """Relative bounds of the catalog's value, around the scenario's own value."""
    DEFAULT = "default"
    """The default span around the value."""


@dataclass(frozen=True)
class Bounds:
    """Low and high of an input, and their origin; those of a residual curve are names of curves."""

    low: float | str
    high: float | str
    origin: Origin

    def width(self, value: float) -> float:
        """Return the width relative to a value; 0 between names."""
        if isinstance(self.low, str) or isinstance(self.high, str):
            return 0.0
        return (self.high - self.low) / abs(value)


def bounds_of(row: Input, question: Question) -> Bounds | None:
    """Return the bounds of an input; None for text, zero, or equal bounds.

    Without bounds of its own, the value has the relative bounds of the catalog's value of the same
    quantity, and a utilization or tokens per second those of every tornado. Without those, it has
    the default span. A fraction is at most 1. A residual curve lies between the catalog's curves.
    """
    now, low, high = row.value, row.low, row.high
    if row.key == RESIDUAL and isinstance(now, str):
        least, _, most = residual_names(question.scenario.finance)
        return Bounds(least, most, Origin.CATALOG)
    if isinstance(now, bool) or not isinstance(now, int | float) or not now:
        return None
    if low is not None and high is not None:
        return Bounds(low, high, Origin.GIVEN) if low < high else None
    if SHARE_OF_WORK.fullmatch(row.key) or THROUGHPUT.fullmatch(row.key):
        span = span_of(row.key, replace(row, low=None, high=None), question.catalog)
        return None if span is None else Bounds(span[0], span[2], Origin.CATALOG)
    listed = _listed(row.key, question)
    if listed is not None:
        below, above = listed.bounds
        ratios = (below / listed.value, above / listed.value)
        origin = Origin.CATALOG
    else:
        ratios, origin = (1.0 - DEFAULT_SPAN_FRAC, 1.0 + DEFAULT_SPAN_FRAC), Origin.DEFAULT
    ends = sorted(now * x for x in ratios)
    if unit_of(row.key) == "fraction" and now <= 1.0:
        ends[1] = min(ends[1], 1.0)
    return Bounds(ends[0] if low is None else low, ends[1] if high is None else high, origin)


def _listed(key: str, question: Question) -> Quantity | None:
    """Return the catalog's quantity behind an input, if it has bounds around a positive value."""
    found = _quantity(key, question)
    if not isinstance(found, Quantity) or found.value <= 0:
        return None
    low, high = found.bounds
    return found if 0 < low < high else None


def _quantity(key: str, question: Question) -> Any:
    """Return the field of the catalog row that a key names, without the scenario's own prices."""
    catalog = question.listed or question.catalog
    kind, _, rest = next((k for k, field in FIELDS.items() if field == key), key).partition(".")
    if kind == "sites":
        return _of_site(rest, question)
    table = catalog.rows.get(kind, {})
    name = max((r for r in table if rest == r or rest.startswith(f"{r}.")), key=len, default=None)
    if name is None:
        return None
    node: Any = table[name]
    if isinstance(node, Parameter):
        return node.value
    for part in rest[len(name) + 1 :].split("."):
        node = getattr(node, part, None)
    return node


def _of_site(rest: str, question: Question) -> Any:
    """Return the energy price of a site's location."""
    catalog = question.listed or question.catalog
    for site in question.scenario.sites:
        if rest == f"{site.id}.energy.usd_per_kwh":
            return getattr(catalog.rows["sites"].get(site.location), "usd_per_kwh", None)
    return None

"""Every metric of every verb, as declared in :mod:`dcplan.specs`."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from dcplan.specs import registry


@dataclass(frozen=True)
class MetricDoc:
    """One metric key with its unit and meaning; ``<…>`` is a placeholder of an id."""

    key: str
    unit: str
    meaning: str
    verb: str


@functools.cache
def metrics() -> tuple[MetricDoc, ...]:
    """Return all metrics by verb, in the order of their declaration.

    Examples
    --------
    >>> next(m for m in metrics() if m.key == "cost.energy_usd").meaning
    'Energy and demand charges'
    """
    return tuple(
        dict.fromkeys(
            MetricDoc(m.key, m.unit, m.meaning, verb)
            for verb in registry.VERBS
            for m in registry.metrics(verb)
        )
    )


def fits(key: str, word: str) -> bool:
    """Whether a word matches a documented key; ``<…>`` matches any text.

    Examples
    --------
    >>> fits("train.<job>.days", "train.flagship.days"), fits("train.<job>.days", "train.days_p50")
    (True, False)
    """
    parts = re.split(r"(<[^>]*>)", key)
    return (
        re.fullmatch("".join(".+" if p.startswith("<") else re.escape(p) for p in parts), word)
        is not None
    )

"""Expectations: tests of metrics after an answer; unknown metrics are rejected before it."""

from __future__ import annotations

import fnmatch
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dcplan.catalog.loader import Catalog
from dcplan.errors import Problem, did_you_mean
from dcplan.scenario.days import days_of, is_date, is_day
from dcplan.scenario.schema import Expectation, Scenario
from dcplan.scenario.tree import Tree
from dcplan.specs import registry

BASE = "base"
"""Base of a change if none is named.

It is the base of ``--base``, or a variant of this name.
"""
FILE = "file"
"""The scenario without a variant, in ``against`` and ``when``."""
VERB = "plan"
"""Verb whose metrics expectations test."""


def known_metrics(scenario: Scenario, catalog: Catalog) -> set[str]:
    """Return every metric key that ``plan`` can produce for a scenario."""
    work = scenario.workloads
    pools = list(dict.fromkeys(x.pool for x in work.queue))
    jobs = [j.id for j in work.jobs]
    demands = [*(c.id for c in (*work.capacity, *work.inference)), *pools]
    ids: dict[str, Iterable[str]] = {
        "system": catalog.rows["systems"],
        "switch": catalog.rows["switches"],
        "job": jobs,
        "demand": demands,
        "workload": [*jobs, *demands],
        "class": [x.id for x in work.queue],
        "pool": pools,
    }
    return {
        spec.at(*found)
        for spec in registry.metrics(VERB)
        if spec.gate and _given(scenario, spec.needs)
        for found in itertools.product(*(ids[kind] for kind in spec.ids))
    }


def _given(scenario: Scenario, block: str) -> bool:
    """Return whether a scenario block, such as ``uncertainty.inputs``, is given and not empty."""
    found: Any = scenario
    for name in filter(None, block.split(".")):
        found = getattr(found, name, None)
    return bool(found)


def _of_other_verb(key: str) -> bool:
    """Return whether a metric belongs only to another verb, which then checks it."""
    if registry.metric_of(VERB, key) is not None:
        return False
    return any(registry.metric_of(verb, key) for verb in registry.VERBS if verb != VERB)


def check_metrics(scenario: Scenario, catalog: Catalog, tree: Tree) -> list[Problem]:
    """Return expectations on metrics that no plan has (DC040), or against an unknown base.

    Other verbs check their own metrics.
    """
    known = known_metrics(scenario, catalog)
    problems = []
    if FILE in scenario.scenarios:
        cause = f"`{FILE}` has a special meaning in `against:` and `when:`"
        problems.append(tree.problem("DC015", cause, ("scenarios", FILE), key=True))
    for i, expectation in enumerate(scenario.expect):
        against = expectation.against or BASE
        if against not in (BASE, FILE, *scenario.scenarios):
            cause = f"{expectation.id}: against {against!r} is not a name in `scenarios:`"
            hint = did_you_mean(against, (BASE, FILE, *scenario.scenarios))
            problems.append(tree.problem("DC013", cause, ("expect", i, "against"), hint=hint))
        if expectation.metric in known or _of_other_verb(expectation.metric):
            problems += _wrong_kind(expectation, i, tree)
            continue
        cause = f"{expectation.id}: unknown metric {expectation.metric!r}"
        hint = did_you_mean(expectation.metric, known)
        where = ("expect", i, "metric")
        problems.append(
            tree.problem("DC040", cause, where, hint=hint, help="metrics: dcplan schema result")
        )
    return problems


def _wrong_kind(e: Expectation, i: int, tree: Tree) -> list[Problem]:
    """Return limits that are dates for a number, or numbers for a date."""
    spec = registry.metric_of(VERB, e.metric)
    dated = spec is not None and spec.date
    problems = []
    for name in ("min", "max", "equals"):
        limit = getattr(e, name)
        if limit is not None and isinstance(limit, str) != dated:
            wanted = "a date (2027-09-01) or a quarter (2027-Q3)" if dated else "a number"
            cause = f"{e.id}: {name} of {e.metric} is {wanted}, not {limit}"
            problems.append(tree.problem("DC004", cause, ("expect", i, name)))
        elif isinstance(limit, str) and not is_day(limit):
            cause = f"{e.id}: {limit} is not a day of the calendar"
            problems.append(tree.problem("DC004", cause, ("expect", i, name)))
    for name in ("change_pct_min", "change_pct_max", "tol"):
        if dated and getattr(e, name) is not None:
            cause = f"{e.id}: {e.metric} is a date, which has no {name}"
            help_text = "use change_min or change_max, in days"
            problems.append(tree.problem("DC015", cause, ("expect", i, name), help=help_text))
    return problems


Values = Mapping[str, float | str | None]
OTHER_VERB = "not a metric of this verb"


def evaluate(
    expectations: Sequence[Expectation],
    values: Values,
    bases: Mapping[str, Values | str] | None = None,
    variant: str | None = None,
) -> list[dict[str, Any]]:
    """Check each expectation; ``passed`` is None if it was skipped, with the reason.

    Parameters
    ----------
    values : mapping
        Metrics of the answer.
    bases : mapping, optional
        Bases of changes by name: the metrics, or the reason why there are none.
    variant : str, optional
        Name in ``scenarios:`` of the answer; an expectation's ``when`` is matched with it.
    """
    return [_one(e, values, bases or {}, variant or FILE) for e in expectations]


def _one(
    e: Expectation, values: Values, bases: Mapping[str, Values | str], variant: str
) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": e.id,
        "metric": e.metric,
        "severity": e.severity,
        "owner": e.owner,
        "note": e.note,
        "observed": None,
        "limit": None,
        "min": e.min,
        "max": e.max,
        "equals": e.equals,
        "passed": None,
        "reason": "",
        "base": None,
        "against": e.against,
        "change_min": e.change_min,
        "change_max": e.change_max,
        "change_pct_min": e.change_pct_min,
        "change_pct_max": e.change_pct_max,
    }
    if e.when is not None and not fnmatch.fnmatchcase(variant, e.when):
        return row | {"reason": f"applies only to {e.when}"}
    spec = registry.metric_of(VERB, e.metric)
    absent = spec.absent if spec else None
    if e.metric not in values and absent is None:
        return row | {"reason": "this plan has no such value" if spec else OTHER_VERB}
    observed = values.get(e.metric, absent)
    dated = spec is not None and spec.date
    if dated and is_date(observed):
        number = days_of(str(observed))[0]
    elif isinstance(observed, int | float):
        number = float(observed)
    else:
        # an unknown value is not within its limits, so the expectation does not pass
        unknown = spec.unknown if spec and observed is None else ""
        return row | {"passed": False, "reason": unknown or "the value is not a number"}
    row["observed"] = observed
    tests = _absolute(e, number)
    if _changes(e):
        base = bases.get(e.against or BASE, "no base; use dcplan test --base git:REV")
        before = base if isinstance(base, str) else _of_base(base, e.metric)
        if dated and is_date(before):
            row["base"] = before
            tests += _relative(e, number, days_of(str(before))[0], " days")
        elif isinstance(before, int | float):
            row["base"] = before
            tests += _relative(e, number, float(before))
        else:
            row["reason"] = before or "the base has no value for this metric"
    row["limit"] = ", ".join(text for _, text in tests) or None
    holds = all(ok for ok, _ in tests)
    uncompared = _changes(e) and row["base"] is None  # a value without a comparison has not passed
    row["passed"] = None if holds and (uncompared or not tests) else holds
    return row


def _of_base(base: Values, metric: str) -> float | str | None:
    """Return a metric of a base; 0 accelerators of a system that the base does not buy."""
    if not base:
        return "the base has no plan"
    spec = registry.metric_of(VERB, metric)
    absent = spec.absent if spec else None
    return base.get(metric, "the base does not have this metric" if absent is None else absent)


def _changes(e: Expectation) -> bool:
    return any(
        x is not None for x in (e.change_min, e.change_max, e.change_pct_min, e.change_pct_max)
    )


def _absolute(e: Expectation, observed: float) -> list[tuple[bool, str]]:
    """Return the tests of a number, or of a day; a quarter holds from its first to its last day."""
    tests = []
    for limit, mark in ((e.max, "<="), (e.min, ">="), (e.equals, "=")):
        if limit is None:
            continue
        low, high = days_of(limit) if isinstance(limit, str) else (limit, limit)
        room = e.tol or 0.0 if mark == "=" else 0.0
        above, below = observed >= low - room, observed <= high + room
        text = limit if isinstance(limit, str) else f"{limit:g}" + f" ± {room:g}" * (mark == "=")
        tests.append(({"<=": below, ">=": above, "=": below and above}[mark], f"{mark} {text}"))
    return tests


def _relative(
    e: Expectation, observed: float, before: float, of: str = ""
) -> list[tuple[bool, str]]:
    """Return tests of changes, with their unit; growth from 0 exceeds every percentage."""
    change = observed - before
    pct = (
        100.0 * change / abs(before)
        if before
        else math.copysign(math.inf, change)
        if change
        else 0.0
    )
    tests = []
    for value, limit, unit in ((change, e.change_max, of), (pct, e.change_pct_max, " %")):
        if limit is not None:
            tests.append((value <= limit, f"change <= {limit:g}{unit} (is {value:+.4g}{unit})"))
    for value, limit, unit in ((change, e.change_min, of), (pct, e.change_pct_min, " %")):
        if limit is not None:
            tests.append((value >= limit, f"change >= {limit:g}{unit} (is {value:+.4g}{unit})"))
    return tests

"""Expectations: gates on metrics, evaluated after an answer; unknown metrics are refused before
it.
"""

from __future__ import annotations

import fnmatch
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from dcplan.catalog.loader import Catalog
from dcplan.errors import Problem, did_you_mean
from dcplan.scenario.schema import Expectation, Scenario
from dcplan.scenario.tree import Tree

PLAN_METRICS = (
    "cost.npv_usd",
    "cost.capex_usd",
    "cost.energy_usd",
    "cost.opex_usd",
    "cost.cloud_usd",
    "cost.unmet_usd",
    "cost.after_usd",
    "cost.residual_usd",
    "power.peak_facility_mw",
    "power.peak_it_mw",
    "power.peak_electrical_mw",
    "power.annual_pue",
    "water.annual_wue_l_per_kwh",
    "carbon.operational_t",
    "carbon.embodied_t",
    "racks.total",
    "accelerators.total",
    "switches.total",
    "cloud.accelerator_hours",
    "solver.gap_frac",
    "solver.bound_usd",
    "carbon.with_cloud_t",
    "compute.pflop_days",
    "time.finish_days",
)
BASE = "base"
"""What a change is against where nothing else is named: what ``--base`` names, else a variant of
this name."""
FILE = "file"
"""The scenario without a variant, in ``against`` and ``when``."""
FUTURE_METRICS = (
    "futures.npv_mean_usd",
    "futures.npv_p50_usd",
    "futures.npv_p90_usd",
    "futures.npv_tail_usd",
)
JOB_METRICS = ("days", "days_p50", "finish", "cost_usd", "accelerators")
OTHER_VERBS = re.compile(
    r"^(owned|rented|hybrid|break_even|leaf|spine|core|node_leaf_links|search|goodput_frac)\b"
)


def known_metrics(scenario: Scenario, catalog: Catalog) -> set[str]:
    """Every metric key that ``plan`` can produce for a scenario."""
    keys = set(PLAN_METRICS)
    keys |= {
        f"{kind}.{system}"
        for kind in ("racks", "accelerators")
        for system in catalog.rows["systems"]
    }
    keys |= {f"switches.{model}" for model in catalog.rows["switches"]}
    keys |= {
        f"train.{job.id}.{name}" for job in scenario.workloads.training for name in JOB_METRICS
    }
    work = scenario.workloads
    if scenario.uncertainty is not None and scenario.uncertainty.inputs:
        keys |= set(FUTURE_METRICS)
    return (
        keys
        | {f"unmet.{j.id}" for j in work.training}
        | {f"unmet.{c.id}" for c in (*work.capacity, *work.inference)}
    )


def check_metrics(scenario: Scenario, catalog: Catalog, tree: Tree) -> list[Problem]:
    """Expectations on metrics that no plan has (DC040), or against what there is not; other verbs'
    are left to them.
    """
    known = known_metrics(scenario, catalog)
    problems = []
    if FILE in scenario.scenarios:
        cause = f"`{FILE}` has a meaning of its own in `against:` and `when:`"
        problems.append(tree.problem("DC015", cause, ("scenarios", FILE), key=True))
    for i, expectation in enumerate(scenario.expect):
        against = expectation.against or BASE
        if against not in (BASE, FILE, *scenario.scenarios):
            cause = f"{expectation.id}: against {against!r}, which is no name in `scenarios:`"
            hint = did_you_mean(against, (BASE, FILE, *scenario.scenarios))
            problems.append(tree.problem("DC013", cause, ("expect", i, "against"), hint=hint))
        if expectation.metric in known or OTHER_VERBS.match(expectation.metric):
            continue
        cause = f"{expectation.id}: no metric {expectation.metric!r}"
        hint = did_you_mean(expectation.metric, known)
        where = ("expect", i, "metric")
        problems.append(
            tree.problem("DC040", cause, where, hint=hint, help="metrics: dcplan schema result")
        )
    return problems


Values = Mapping[str, float | str | None]


def evaluate(
    expectations: Sequence[Expectation],
    values: Values,
    bases: Mapping[str, Values | str] | None = None,
    variant: str | None = None,
) -> list[dict[str, Any]]:
    """Check each expectation; ``passed`` is None where it was skipped, with the reason.

    Parameters
    ----------
    values : mapping
        Metrics of the answer.
    bases : mapping, optional
        What changes are measured against, by name: its metrics, or why there are none.
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
        return row | {"reason": f"only for {e.when}"}
    if e.metric not in values and e.metric.split(".")[0] not in {
        "racks",
        "accelerators",
        "switches",
    }:
        return row | {"reason": "not a metric of this verb"}
    observed = values.get(e.metric, 0.0)  # a system that is not bought has 0 racks
    if not isinstance(observed, int | float):
        # what is not known is not within its limits: a gate on it is not green
        return row | {"passed": False, "reason": "not known as a number"}
    row["observed"] = observed
    tests = _absolute(e, observed)
    if _changes(e):
        base = bases.get(e.against or BASE, "needs a base: dcplan test --base git:REV")
        before = base if isinstance(base, str) else _of_base(base, e.metric)
        if isinstance(before, int | float):
            row["base"] = before
            tests += _relative(e, observed, float(before))
        else:
            row["reason"] = before or "the base has no such number"
    row["limit"] = ", ".join(text for _, text in tests) or None
    holds = all(ok for ok, _ in tests)
    uncompared = _changes(e) and row["base"] is None  # what was not compared has not passed
    row["passed"] = None if holds and (uncompared or not tests) else holds
    return row


def _of_base(base: Values, metric: str) -> float | str | None:
    """A metric of a base; a system that the base does not buy has none of it."""
    if not base:
        return "there is no plan at the base"
    counted = metric.split(".", maxsplit=1)[0] in ("racks", "accelerators", "switches")
    return base.get(metric, 0.0 if counted else "the base has no such metric")


def _changes(e: Expectation) -> bool:
    return any(
        x is not None for x in (e.change_min, e.change_max, e.change_pct_min, e.change_pct_max)
    )


def _absolute(e: Expectation, observed: float) -> list[tuple[bool, str]]:
    tests = []
    if e.max is not None:
        tests.append((observed <= e.max, f"<= {e.max:g}"))
    if e.min is not None:
        tests.append((observed >= e.min, f">= {e.min:g}"))
    if e.equals is not None:
        tests.append(
            (abs(observed - e.equals) <= (e.tol or 0.0), f"= {e.equals:g} ± {e.tol or 0:g}")
        )
    return tests


def _relative(e: Expectation, observed: float, before: float) -> list[tuple[bool, str]]:
    """Changes from a base: what grows from nothing has grown by more than any percentage."""
    change = observed - before
    pct = (
        100.0 * change / abs(before)
        if before
        else math.copysign(math.inf, change)
        if change
        else 0.0
    )
    tests = []
    for value, limit, unit in ((change, e.change_max, ""), (pct, e.change_pct_max, " %")):
        if limit is not None:
            tests.append((value <= limit, f"change <= {limit:g}{unit} (is {value:+.4g}{unit})"))
    for value, limit, unit in ((change, e.change_min, ""), (pct, e.change_pct_min, " %")):
        if limit is not None:
            tests.append((value >= limit, f"change >= {limit:g}{unit} (is {value:+.4g}{unit})"))
    return tests

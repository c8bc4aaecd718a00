"""Expectations: gates on metrics, evaluated after an answer; unknown metrics are refused before it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from dcplan.catalog.loader import Catalog
from dcplan.errors import Problem, did_you_mean
from dcplan.scenario.schema import Expectation, Scenario
from dcplan.scenario.tree import Tree

PLAN_METRICS = (
    "cost.npv_usd", "cost.capex_usd", "cost.energy_usd", "cost.opex_usd", "cost.cloud_usd", "cost.unmet_usd",
    "cost.after_usd", "cost.residual_usd",
    "power.peak_facility_mw", "power.peak_it_mw", "power.peak_electrical_mw", "power.annual_pue",
    "water.annual_wue_l_per_kwh", "carbon.operational_t", "carbon.embodied_t", "racks.total", "accelerators.total",
    "switches.total", "cloud.accelerator_hours", "solver.gap_frac", "solver.bound_usd",
    "carbon.with_cloud_t", "compute.pflop_days", "time.finish_days",
)  # fmt: skip
FUTURE_METRICS = (
    "futures.npv_mean_usd", "futures.npv_p50_usd", "futures.npv_p90_usd", "futures.npv_tail_usd",
)  # fmt: skip
JOB_METRICS = ("days", "days_p50", "finish", "cost_usd", "accelerators")
OTHER_VERBS = re.compile(r"^(owned|rented|hybrid|break_even|leaf|spine|core|node_leaf_links|search|goodput_frac)\b")


def known_metrics(scenario: Scenario, catalog: Catalog) -> set[str]:
    """Every metric key that ``plan`` can produce for a scenario."""
    keys = set(PLAN_METRICS)
    keys |= {f"{kind}.{system}" for kind in ("racks", "accelerators") for system in catalog.rows["systems"]}
    keys |= {f"switches.{model}" for model in catalog.rows["switches"]}
    keys |= {f"train.{job.id}.{name}" for job in scenario.workloads.training for name in JOB_METRICS}
    work = scenario.workloads
    if scenario.uncertainty is not None and scenario.uncertainty.inputs:
        keys |= set(FUTURE_METRICS)
    return (
        keys | {f"unmet.{j.id}" for j in work.training} | {f"unmet.{c.id}" for c in (*work.capacity, *work.inference)}
    )


def check_metrics(scenario: Scenario, catalog: Catalog, tree: Tree) -> list[Problem]:
    """Expectations on metrics that no plan has (DC040); those of other verbs are left to them."""
    known = known_metrics(scenario, catalog)
    problems = []
    for i, expectation in enumerate(scenario.expect):
        if expectation.metric in known or OTHER_VERBS.match(expectation.metric):
            continue
        cause = f"{expectation.id}: no metric {expectation.metric!r}"
        hint = did_you_mean(expectation.metric, known)
        where = ("expect", i, "metric")
        problems.append(tree.problem("DC040", cause, where, hint=hint, help="metrics: dcplan schema result"))
    return problems


def evaluate(expectations: Sequence[Expectation], values: Mapping[str, float | str | None]) -> list[dict[str, Any]]:
    """Check each expectation; ``passed`` is None where it was skipped, with the reason."""
    return [_one(e, values) for e in expectations]


def _one(e: Expectation, values: Mapping[str, float | str | None]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": e.id, "metric": e.metric, "severity": e.severity, "owner": e.owner, "note": e.note,
        "observed": None, "limit": None, "min": e.min, "max": e.max, "equals": e.equals, "passed": None, "reason": "",
    }  # fmt: skip
    if e.change_max is not None or e.change_pct_max is not None:
        row["reason"] = f"needs a base ({e.against or 'base'}): not compared in this version"
        return row
    if e.metric not in values:
        family = e.metric.split(".")[0]
        if family not in {"racks", "accelerators", "switches"}:
            row["reason"] = "not a metric of this verb"
            return row
    observed = values.get(e.metric, 0.0)  # a system that is not bought has 0 racks
    if not isinstance(observed, int | float):
        row["reason"] = "not a number"
        return row
    row["observed"] = observed
    tests = []
    if e.max is not None:
        tests.append((observed <= e.max, f"<= {e.max:g}"))
    if e.min is not None:
        tests.append((observed >= e.min, f">= {e.min:g}"))
    if e.equals is not None:
        tests.append((abs(observed - e.equals) <= (e.tol or 0.0), f"= {e.equals:g} ± {e.tol or 0:g}"))
    row["limit"] = ", ".join(text for _, text in tests)
    row["passed"] = all(ok for ok, _ in tests)
    return row

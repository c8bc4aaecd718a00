"""Decisions of a plan in words, and those that differ between two plans."""

from __future__ import annotations

from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem

Change = tuple[str, str, str]
"""A decision in words, before and after."""


def differences(
    problem: PlanningProblem, one: Decisions | None, two: Decisions | None
) -> list[Change]:
    """Return the decisions that differ in kind, with the value on each side.

    They cover systems by hall, fabrics, the place of each job, rent and commitments.
    """
    if one is None or two is None:
        return []
    before, after = summary(problem, one), summary(problem, two)
    return [
        (key, before.get(key, "none"), after.get(key, "none"))
        for key in sorted({*before, *after})
        if before.get(key) != after.get(key)
    ]


def summary(problem: PlanningProblem, d: Decisions) -> dict[str, str]:
    """Return the main decisions of a plan in words, without their exact numbers."""
    found: dict[str, str] = {}
    racks: dict[str, int] = {}
    for (h, _, k, _), n in d.ordered.items():
        racks[f"order {k} for {h}"] = racks.get(f"order {k} for {h}", 0) + n
    found |= dict.fromkeys(racks, "yes")
    found |= {f"fabric of {h}": f for h, f in d.fabric.items()}
    found |= {f"{r.job} runs on": f"{r.system} in {r.place}" for r in d.whole_runs}
    found |= {f"rent {o}": "yes" for o in {o for _, o, _ in d.rented}}
    found |= {f"commit to {o} {c}": "yes" for o, c, _ in d.committed}
    found |= {f"sell or cancel {i}": "yes" for i, _ in d.disposed}
    fitted = {
        (h, c)
        for (h, c, _), n in d.fitted.items()
        if n and any(x.id == h and not x.existing for x in problem.halls)
    }
    found |= {f"upgrade {h} with {u}": "yes" for (h, u, _), n in d.upgrades.items() if n}
    return found | {f"build {h} with {c}": "yes" for h, c in fitted}

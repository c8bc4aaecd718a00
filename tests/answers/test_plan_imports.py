"""A plan imports what its scenario needs; each module that it does not need costs time."""

from __future__ import annotations

import subprocess
import sys

RARE = {
    "dcplan.serving": "services, and the rollouts of post-training",
    "dcplan.inputs.serving": "the same",
    "dcplan.demand.simulation": "queues",
    "dcplan.training.many.sweeps": "layouts that the cache does not have",
    "dcplan.fabric.long_haul": "links between halls",
    "dcplan.answers.demand": "dcplan demand",
    "dcplan.answers.tco": "the workbook of a plan with taxes, payment terms or debt",
    "dcplan.answers.remedies": "scenarios without a plan",
    "dcplan.answers.plan.replay": "--replay-hours",
    "dcplan.answers.plan.hedge": "--hedge",
    "dcplan.answers.facility": "dcplan facility",
    "dcplan.answers.explain": "dcplan explain",
    "scipy.optimize": "sampled scenarios",
    "pandas": "frames in Python",
}
"""Module or package -> what needs it."""


def loaded(code: str) -> set[str]:
    found = subprocess.run(
        [sys.executable, "-c", f"import sys; {code}; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return set(found.stdout.split())


def test_a_plan_imports_nothing_that_only_other_scenarios_need() -> None:
    names = loaded("import dcplan.api.plan")
    assert "dcplan.planning.solve.strategy" in names  # the listing was read
    assert sorted(n for n in names for r in RARE if n == r or n.startswith(f"{r}.")) == []


def test_an_explanation_does_not_import_the_sampled_scenarios() -> None:
    assert "scipy.optimize" not in loaded("import dcplan.answers.explain.answer")

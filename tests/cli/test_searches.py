"""``plan --searches``: parallel searches in real processes, and flags that have no effect."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Ran, spawn


def test_two_searches_give_the_plan_of_one_within_the_gap(tiny: Path) -> None:
    flags = ("plan", "tiny.yaml", "--gap", "0.001", "-f", "json")
    one, two = (
        json.loads(ran.out)
        for ran in (
            spawn(*flags, cwd=tiny.parent),
            spawn(*flags, "--searches", "2", cwd=tiny.parent),
        )
    )
    assert (one["solver"]["searches"], one["solver"]["searches_ended"]) == (1, 1)
    assert two["status"] == "ok"
    assert two["solver"]["searches"] == 2
    assert two["solver"]["searches_ended"] in (1, 2)
    assert two["solver"]["seed"] in (0, 1)
    assert two["solver"]["gap_frac"] <= 0.001
    values = [x["metrics"]["cost.npv_usd"]["value"] for x in (one, two)]
    assert values[0] == pytest.approx(values[1], rel=0.001)


def test_searches_that_prove_infeasibility_exit_3(tiny: Path) -> None:
    flags = ("--set", "finance.budget_usd=1000", "--searches", "2", "-f", "json", "-q")
    ran = spawn("plan", "tiny.yaml", *flags, cwd=tiny.parent)
    assert ran.code == 3, ran.err
    solver = json.loads(ran.out)["solver"]
    assert (solver["status"], solver["searches"]) == ("infeasible", 2)
    assert solver["reproducible"]  # whichever search proves it


@pytest.mark.parametrize(
    ("flags", "code", "text"),
    [
        ("--engine processes", "DC015", "has no effect on one search"),
        ("--scheduler tcp://127.0.0.1:9", "DC050", "--scheduler needs --engine dask"),
        ("--searches 2 --scheduler tcp://127.0.0.1:9", "DC050", "--scheduler needs --engine dask"),
        ("--searches 2 --engine serial", "DC050", "must be one of processes, dask"),
        ("--searches 0", "DC050", "a whole number from 1 is needed"),
        ("--searches 2 --hedge", "DC015", "have no effect with --hedge"),
        ("--searches 2 --fix-decisions plan.json", "DC015", "have no effect with --fix-decisions"),
        pytest.param(
            *("--engine dask --scheduler tcp://127.0.0.1:9", "DC050", "no Dask scheduler at"),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_flags_without_effect_are_refused(
    here: Callable[..., Ran], tiny: Path, flags: str, code: str, text: str
) -> None:
    if "plan.json" in flags:
        assert here("plan", "tiny.yaml", "-q", "-f", "json", "-o", "plan.json").code == 0
    ran = here("plan", "tiny.yaml", *flags.split())
    assert ran.code == 2, ran.err
    assert f"error[{code}]" in ran.err
    assert text in ran.err

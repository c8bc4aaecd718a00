"""The goals of the training estimate, one line each, on the packaged table of measured runs."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from dcplan.answers.validation.answer import validate
from dcplan.answers.validation.runs.rows import recipe_id
from dcplan.catalog.loader import load
from dcplan.catalog.schema import Accelerator
from dcplan.result import Result

FP8 = {"fp8", "mxfp8"}
MEGATRON = "megatron-core"


@dataclass(frozen=True)
class Judged:
    """One run of the table with what the model says of it."""

    accelerator: str
    stack: str
    recipe: str
    moe: bool
    error: float


@pytest.fixture(scope="module")
def result() -> Result:
    """All packaged runs predicted."""
    return validate()


@pytest.fixture(scope="module")
def judged(result: Result, repo: Path) -> list[Judged]:
    """Supported runs, joined with their own columns."""
    catalog = load()
    with (repo / "catalogs" / "runs" / "training_runs.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        table = list(csv.DictReader(file))
    shown = result.frame("runs")
    assert [r["id"] for r in table] == list(shown["id"])
    found = []
    for row, status, error in zip(table, shown["status"], shown["error_frac"], strict=True):
        if status == "ok":
            accelerator = catalog.find("accelerators", row["accelerator_id"], Accelerator)
            assert accelerator is not None
            found.append(
                Judged(
                    accelerator.id,
                    row["stack"],
                    recipe_id(row["precision"]),
                    row["arch"] == "moe",
                    error,
                )
            )
    return found


# name, least runs that must stand behind it, mean absolute step-time error, which runs
GOALS: list[tuple[str, int, float, Callable[[Judged], bool]]] = [
    (
        # the runs of 2022 in the same layouts are 4 to 9 % faster (tests/training/korthikanti.csv)
        "A100 megatron-2021",
        10,
        0.05,
        lambda r: r.stack == "megatron-2021" and r.accelerator.startswith("a100"),
    ),
    (
        "H100 bf16 dense megatron-core",
        60,
        0.06,
        lambda r: (
            r.stack == MEGATRON and r.accelerator == "h100-sxm" and r.recipe == "bf16" and not r.moe
        ),
    ),
    *(
        (
            f"{accelerator} FP8 dense",
            least,
            goal,
            lambda r, a=accelerator: r.accelerator == a and r.recipe in FP8 and not r.moe,
        )
        # two runs on B200, whose speed is that of GB200 at its power and not fitted alone
        for accelerator, least, goal in (
            ("h100-sxm", 80, 0.07),
            ("b200-sxm", 2, 0.13),
            ("gb200", 24, 0.07),
            ("gb300", 24, 0.10),
        )
    ),
    ("FSDP composer", 120, 0.08, lambda r: r.stack == "composer-fsdp"),
    ("FSDP torchtitan", 20, 0.08, lambda r: r.stack == "torchtitan"),
    ("megatron-deepspeed", 95, 0.10, lambda r: r.stack == "megatron-deepspeed"),
    ("MoE", 90, 0.15, lambda r: r.moe),
    *(
        (accelerator, least, 0.10, lambda r, a=accelerator: r.accelerator == a)
        for accelerator, least in (
            ("tpu-v4", 3),
            ("tpu-v5e", 12),
            ("tpu-v5p", 8),
            ("tpu7x", 9),
            ("trainium1", 3),
        )
    ),
]


@pytest.mark.parametrize(("name", "least", "goal", "which"), GOALS, ids=[g[0] for g in GOALS])
def test_mean_step_time_error_of_the_line_is_within_its_goal(
    judged: list[Judged], name: str, least: int, goal: float, which: Callable[[Judged], bool]
) -> None:
    errors = np.abs([r.error for r in judged if which(r)])
    assert errors.size >= least, f"{name}: only {errors.size} runs are supported"
    print(f"{name}: {errors.mean():.2%} of {errors.size} runs, goal {goal:.0%}")
    assert errors.mean() <= goal


def test_nearly_all_complete_runs_are_supported(result: Result) -> None:
    assert result.value("runs.total") == 727
    assert result.value("runs.supported_frac") >= 0.95


def test_the_median_step_time_error_is_small(result: Result) -> None:
    assert result.value("error.median_abs_frac") <= 0.06


def test_peak_memory_is_within_3_percent(result: Result) -> None:
    shown = result.frame("runs")
    assert shown["measured_memory_gib"].notna().sum() >= 20
    assert result.value("error.memory_mean_abs_frac") <= 0.03


def test_most_measured_times_lie_inside_the_80_percent_interval(result: Result) -> None:
    assert result.value("interval.coverage_frac") >= 0.8

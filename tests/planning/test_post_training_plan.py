"""Post-training as a job of a plan: its options by hand, the plan's choice, and refusals."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import dcplan
from dcplan.catalog.schema import Model
from dcplan.errors import InputError
from dcplan.inputs.excluded import Cause, Kind
from dcplan.inputs.log import InputLog
from dcplan.inputs.post_training import (
    PostTrainingOption,
    every_division,
    pools_of,
    post_training_options,
)
from dcplan.inputs.training.speed import hardware
from dcplan.inputs.training.trainer import Policy, step_spread_frac
from dcplan.llm.config import from_config
from dcplan.planning.presolve import presolve
from dcplan.planning.problem.build import Built, build
from dcplan.planning.problem.work.jobs.post_training import place_of, tried_counts
from dcplan.planning.problem.work.targets import Target
from dcplan.planning.problem.work.terms import RunOption
from dcplan.planning.solve.request import SolveRequest
from dcplan.planning.solve.strategy import solve_problem
from dcplan.result import Result
from dcplan.scenario.load import Question, load
from dcplan.specs.plan import decided
from dcplan.training.shapes import trained_shape
from dcplan.units import BITS_PER_BYTE, SECONDS_PER_DAY

P90 = NormalDist().inv_cdf(0.9)
SCENARIO = """
dcplan: 1
name: post-training
horizon: {start: 2027-Q1, quarters: 4}
sites:
  - id: a
    location: us-ashburn
    utility_mw: 2
    halls: [{id: h, racks: 8, rack_kw_max: 60, it_mw: 0.6, air_mw: 0.6, cooling: [direct-liquid-tower]}]
systems: [dgx-h100]
fabrics: [ib-ndr-400]
workloads:
  post_training:
    - id: reason
      model: llama-3.1-8b
      precision: [bf16]
      deadline_days: 180
      rl: {prompts: 256, samples: 16, isl: 300, osl: 2000, longest_osl: 8000, steps: 20000, staleness: 1}
objective: min_cost
"""
KEY = "workloads.post_training.reason"


@cache
def question(folder: Path, old: str = "", new: str = "") -> Question:
    assert old in SCENARIO
    file = folder / "post-training.yaml"
    file.write_text(SCENARIO.replace(old, new).strip() if old else SCENARIO.strip(), "utf-8")
    return load(str(file))


def planned(folder: Path, **changes: Any) -> Result:
    file = question(folder).file
    return dcplan.plan(str(file), sets=[f"{KEY}.{k}={v}" for k, v in changes.items()])


def options(built: Built) -> list[RunOption]:
    """Return the options of different sizes, each with its first start."""
    return list({x.accelerators: x for x in reversed(built.problem.run_options)}.values())


def by_hand(asked: Question, option: RunOption) -> tuple[InputLog, PostTrainingOption]:
    """Return the fastest option on the accelerators that a run uses without its spares."""
    log, job = InputLog(asked.catalog), asked.scenario.workloads.post_training[0]
    link = option.link.gbps / BITS_PER_BYTE  # a DGX H100 has one port for each accelerator
    target = Target(option.place, "dgx-h100", "h100-sxm", 8, 0, link, option.link)
    place = place_of(target, log)
    assert not isinstance(place, str)
    row = asked.catalog.get("models", job.model, Model)
    policy = Policy(trained_shape(row.config), from_config(row.config), row)
    spec = hardware("h100-sxm", "bf16", link, log, moe=False)
    assert not isinstance(spec, str)
    count = option.accelerators - option.spares
    counts = tuple(range(8, count + 1, 8))
    pools = pools_of(job.rl, policy, place, spec, counts, log)
    assert not isinstance(pools, str)
    found = post_training_options(pools)[-1]
    assert found is not None
    every = [x.step_time_s for n in counts for x in every_division(pools, n)]
    assert found.step_time_s == min(every)
    return log, found


def test_an_option_is_the_fastest_division_at_its_goodput(tmp_path: Path) -> None:
    """p50 = steps x step x slowdown / goodput; P80 adds 0.84 standard deviations of the logarithm."""
    asked = question(tmp_path)
    built = build(asked)
    found = options(built)
    assert len(found) > 3
    for x in found:
        log, best = by_hand(asked, x)
        assert x.step_time_s == pytest.approx(best.step_time_s, rel=1e-5)
        assert x.used == best.used_accelerators
        assert x.layout["mode"] == best.mode
        assert x.layout["rollout"] == f"{best.rollout_accelerators} ({best.rollout_layout})"
        assert x.layout["training"] == f"{best.training_accelerators} ({best.training_layout})"
        slower = log.parameter("reliability", "production-slowdown")
        p50 = 20000 * best.step_time_s / SECONDS_PER_DAY * slower / x.outlook["goodput_frac"]
        assert x.days_p50 == pytest.approx(p50, rel=1e-5)
        # the step time alone is a lower bound of the spread
        own = np.log1p(0.30) / P90
        assert x.days >= p50 * np.exp(NormalDist().inv_cdf(0.8) * own)
        assert x.mfu_frac is None


def test_the_width_of_a_step_is_that_of_published_rows(tmp_path: Path) -> None:
    """H100 rows: 0.30; GB200 rows: 1.14; a wider trainer counts."""
    log = InputLog(question(tmp_path).catalog)
    assert step_spread_frac(0.1, "hopper", log) == 0.30
    assert step_spread_frac(0.1, "blackwell", log) == 1.14
    assert step_spread_frac(0.1, None, log) == 1.14
    assert step_spread_frac(1.5, "hopper", log) == 1.5


def test_a_given_count_and_a_given_pool_are_kept(tmp_path: Path) -> None:
    """64 accelerators with 20 that generate leave 44 to train, 72 leave 52."""
    other = question(tmp_path, "deadline_days: 180", "accelerators: 64")
    assert {x.accelerators - x.spares for x in build(other).problem.run_options} == {64}
    job = other.scenario.workloads.post_training[0]
    assert tried_counts(job, 8, 512)[-1] == 64
    given = job.model_copy(update={"rl": job.rl.model_copy(update={"rollout_accelerators": 20})})
    assert {64, 44} <= set(tried_counts(given, 8, 512))
    free = given.model_copy(update={"accelerators": None})
    assert {64, 44, 72, 52} <= set(tried_counts(free, 8, 512))


def test_a_plan_shows_the_pools_and_a_tight_deadline_takes_more(tmp_path: Path) -> None:
    sizes = []
    for days in (180, 20):
        result = planned(tmp_path, deadline_days=days)
        assert result.status == "ok"
        row = decided.JOBS.rows(result.tables["jobs"])[0]
        assert row.days <= days
        assert str(row.layout).startswith("mode=")
        assert " rollout=" in str(row.layout)
        assert result.metrics["train.reason.cost_usd"].value
        sizes.append(row.accelerators)
    assert sizes[1] > sizes[0]


def test_the_plan_costs_as_much_as_the_best_single_option(tmp_path: Path) -> None:
    """Each option is solved alone: none is cheaper than the choice, and one is as cheap."""
    asked = question(tmp_path, "quarters: 4", "quarters: 2")
    problem = build(asked).problem
    request = SolveRequest(1e-6, time_limit_s=60.0)

    def cost(run_options: tuple[RunOption, ...]) -> float:
        audit = solve_problem(replace(problem, run_options=run_options), asked, request).audit
        return audit.npv_usd if audit else np.inf

    alone = [cost((x,)) for x in problem.run_options]
    assert len({x.accelerators for x in problem.run_options}) > 3
    assert cost(problem.run_options) == pytest.approx(min(alone), rel=1e-5)


def test_a_deadline_that_no_count_reaches_is_refused_at_its_place(tmp_path: Path) -> None:
    asked = question(tmp_path, "deadline_days: 180", "deadline_days: 0.5")
    problem = presolve(asked, build(asked))[0]
    assert problem.code == "DC031"
    assert "reason: no run option meets its deadline: a/h dgx-h100: bf16: too slow with up to " in (
        problem.cause
    )
    assert ":16:" in str(problem.place)


def test_a_model_that_does_not_fit_is_refused_with_its_part(tmp_path: Path) -> None:
    """671 B parameters do not fit in 8 accelerators of 80 GB."""
    text = "model: llama-3.1-8b\n      accelerators: 8"
    asked = question(tmp_path, "model: llama-3.1-8b", text.replace("llama-3.1-8b", "deepseek-v3"))
    built = build(asked)
    problem = presolve(asked, built)[0]
    assert problem.code == "DC032"
    assert "no layout of the trainer fits in the memory of up to 8 h100-sxm" in problem.cause
    causes = {x.cause for x in built.problem.excluded if x.kind is Kind.JOB}
    assert causes == {Cause.MEMORY}


def test_an_engine_that_cannot_run_is_refused_at_its_settings(tmp_path: Path) -> None:
    """32 heads are no multiple of 3."""
    asked = question(tmp_path, "staleness: 1", "rollout_tp: 3")
    problem = presolve(asked, build(asked))[0]
    assert problem.code == "DC015"
    assert "rollout_tp of 3 does not divide 32 heads" in problem.cause


CAPACITY = "\n  capacity: [{id: reason, accelerator_hours: 1e4, utilization_frac: 0.9}]\nobjective"


@pytest.mark.parametrize(
    ("old", "new", "code", "cause"),
    [
        ("model: llama-3.1-8b", "model: llama-3.1-9b", "DC010", "no models row 'llama-3.1-9b'"),
        ("staleness: 1", "rollout_precision: fp7", "DC010", "no formats row 'fp7'"),
        ("\nobjective", CAPACITY, "DC011", "the id 'reason' occurs twice"),
        ("      model", "      sites: [b]\n      model", "DC010", "no site 'b' in this scenario"),
        ("      model", "      start: 2029-Q1\n      model", "DC015", "is outside the horizon"),
        ("deadline_days: 180", "tokens: 1e12", "DC002", "tokens"),
        ("staleness: 1", "staleness: 1, mode: colocated", "", "staleness needs mode asynchronous"),
        (
            "rl: {",
            "accelerators: 8\n      rl: {rollout_accelerators: 8, ",
            "",
            "rl.rollout_accelerators leaves none of the accelerators to train",
        ),
    ],
)
def test_wrong_fields_are_refused(
    tmp_path: Path, old: str, new: str, code: str, cause: str
) -> None:
    with pytest.raises(InputError) as caught:
        question(tmp_path, old, new)
    found = [(p.code, p.cause) for p in caught.value.problems]
    assert any((not code or c == code) and cause in text for c, text in found), found

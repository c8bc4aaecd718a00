"""Searches of many devices and counts at once, against the search of all layouts."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from dcplan.catalog.loader import load
from dcplan.catalog.schema import Model
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.speed import hardware
from dcplan.llm.config import from_config
from dcplan.planning.problem.work.jobs.choice import counts as tried_counts
from dcplan.training.estimate import Hardware, case_of
from dcplan.training.grid import KEYS, case_setup, layout_table
from dcplan.training.many.build import group_of
from dcplan.training.many.group import Group
from dcplan.training.many.layouts import Problems, columns_of
from dcplan.training.many.race import fastest, race
from dcplan.training.many.refined import refined
from dcplan.training.many.requests import Request
from dcplan.training.many.sweeps import sweeps
from dcplan.training.many.times import timed_all
from dcplan.training.memory import memory
from dcplan.training.search import prepare, quick_search
from dcplan.training.step import step

BATCH = 4e6
SEARCHES = [
    ("llama-3.1-70b", "h100-sxm", (48, 112, 216, 1024)),
    ("llama-3.1-405b", "h100-sxm", (256, 504)),
    ("mixtral-8x22b", "h100-sxm", (48, 144, 216)),
    ("llama-3.1-8b", "mi300x", (8, 24, 104)),
]
"""Counts that powers of two do not divide among them, each at two network speeds."""
NETWORKS = (25.0, 50.0)


@cache
def spec(accelerator: str, precision: str, gb_per_s: float, *, moe: bool) -> Hardware:
    found = hardware(accelerator, precision, gb_per_s, InputLog(load()), moe=moe)
    assert isinstance(found, Hardware)
    return found


@cache
def request(
    model: str,
    accelerator: str = "h100-sxm",
    gb_per_s: float = 50.0,
    counts: tuple[float, ...] = (64.0,),
    wanted: tuple[float, ...] = (),
) -> Request:
    shape = from_config(load().get("models", model, Model).config)
    device = spec(accelerator, "bf16", gb_per_s, moe=shape.moe_layers > 0)
    rows = tuple((x,) for x in wanted)
    return Request(shape, 4096, BATCH, device, counts, rows, (1.0,) if rows else ())


def full_s(one: Request, count: float) -> float:
    """Step time that the search of all layouts finds."""
    case = case_of(one.shape, one.seq_len, BATCH, one.hardware)
    ranks = int(count * case.device.ranks)
    found = quick_search(prepare(case, ranks), ranks, 1)
    return float(found.step_time_s[0]) if found.step_time_s.size else np.inf


def group(*requests: Request) -> Group:
    return group_of([case_of(r.shape, r.seq_len, BATCH, r.hardware) for r in requests])


@pytest.mark.parametrize(("model", "accelerator", "numbers"), SEARCHES)
def test_each_searched_count_has_the_step_time_of_the_search_of_all_layouts(
    model: str, accelerator: str, numbers: tuple[int, ...]
) -> None:
    counts = tuple(float(n) for n in numbers)
    asked = [request(model, accelerator, gb, counts) for gb in NETWORKS]
    for one, found in zip(asked, sweeps(asked), strict=True):
        expected = [full_s(one, n) for n in counts]
        # a device may take over the layout of a faster network that loses at most 0.3 %
        assert found.step_time_s == pytest.approx(expected, rel=3.001e-3)
        assert (found.step_time_s >= np.array(expected) * (1.0 - 1e-9)).all()
        assert found.searched is not None
        assert found.searched.all()
    alone = sweeps(asked[-1:])[0].step_time_s
    assert alone == pytest.approx([full_s(asked[-1], n) for n in counts], rel=1e-9)


def test_a_layout_of_a_group_has_the_time_and_the_memory_of_the_plain_formula() -> None:
    asked = [request("mixtral-8x22b", gb_per_s=gb) for gb in NETWORKS]
    several = group(*asked)
    found = race(several, problems([0, 1], [144.0, 216.0]), 0.05)
    assert found.time_s.size > 10
    x = columns_of(several, found.rows)
    time, needed = timed_all(several, found.rows)
    assert time == pytest.approx(found.time_s, rel=1e-12)
    for i in range(0, found.time_s.size, 5):
        one = asked[found.rows.problem[i]]
        case = case_of(one.shape, one.seq_len, BATCH, one.hardware)
        setup = case_setup(case, layout_table(case, {k: x[k][i : i + 1] for k in KEYS}))
        assert time[i] == pytest.approx(step(setup).time_s[0], rel=1e-9)
        assert needed[i] == pytest.approx(memory(setup).total[0], rel=1e-9)


def problems(devices: list[int], ranks: list[float], bar: float = np.inf) -> Problems:
    return Problems(np.array(devices), np.array(ranks), np.full(len(ranks), bar))


def test_a_bar_below_the_fastest_layout_leaves_nothing_and_one_above_changes_nothing() -> None:
    several = group(request("llama-3.1-70b"))
    best = fastest(several, race(several, problems([0], [112.0])))
    assert not race(several, problems([0], [112.0], best.time_s[0] * 0.999)).time_s.size
    again = fastest(several, race(several, problems([0], [112.0], best.time_s[0] * 1.001)))
    assert again.time_s == pytest.approx(best.time_s, rel=1e-12)


def test_the_smallest_count_of_each_wanted_step_time_is_found() -> None:
    counts = tuple(float(n) for n in tried_counts(8, 1600))
    wanted = (2.9, 7.0, 20.0)
    found = sweeps([request("llama-3.1-70b", counts=counts, wanted=wanted)])[0]
    one = request("llama-3.1-70b")
    for want in wanted:
        first = int(np.flatnonzero(found.step_time_s <= want)[0])
        assert full_s(one, found.accelerators[first]) == pytest.approx(found.step_time_s[first])
        assert full_s(one, found.accelerators[first - 1]) > want


def test_no_count_is_faster_than_the_search_of_all_layouts_at_any_count() -> None:
    """Counts between the searched ones have some layout, so none may have a better time than all."""
    counts = tuple(8.0 * n for n in range(1, 40))
    found = sweeps([request("llama-3.1-70b", counts=counts, wanted=(20.0,))])[0]
    assert found.searched is not None
    between = np.flatnonzero((found.searched < 1.0) & np.isfinite(found.step_time_s))
    assert between.size > 5
    x = found.layouts
    ranks = x["tp"] * x["pp"] * x["cp"] * x["dp"]
    assert (ranks <= found.accelerators)[between].all()
    assert found.used == pytest.approx(ranks)


def test_refined_counts_have_the_step_time_of_the_search_of_all_layouts() -> None:
    counts = tuple(8.0 * n for n in range(1, 40))
    one = request("llama-3.1-70b", counts=counts, wanted=(20.0,))
    found = sweeps([one])[0]
    assert found.searched is not None
    at = [int(i) for i in np.flatnonzero(found.searched < 1.0)[-3:]]
    better = refined([one], [found], [found.accelerators[at].tolist()])[0]
    expected = [full_s(one, n) for n in found.accelerators[at]]
    assert better.step_time_s[at] == pytest.approx(expected, rel=1e-9)
    assert better.searched is not None
    assert better.searched[at].all()
    rest = np.setdiff1d(np.arange(len(found.accelerators)), at)
    assert (better.step_time_s[rest] == found.step_time_s[rest]).all()


def test_a_model_that_does_not_fit_has_no_layout_at_any_count() -> None:
    one = request("llama-3.1-405b", counts=(8.0, 16.0), wanted=(1e9,))
    small = replace(one.hardware, device=replace(one.hardware.device, hbm_gb=1.0))
    found = sweeps([replace(one, hardware=small)])[0]
    assert np.isinf(found.step_time_s).all()


def test_counts_that_a_batch_fills_are_tried() -> None:
    # 1,024 sequences in 3 micro-batches need ceil(1024 / 3) = 342 replicas, and 342 x 4 = 1,368
    # accelerators; 5 need 205, and 205 x 4 = 820 are 824 in units of 8
    assert {824, 1024, 1368} <= set(tried_counts(8, 2000, 1024.0)) - set(tried_counts(8, 2000))
    assert all(n % 8 == 0 and n <= 2000 for n in tried_counts(8, 2000, 1024.0))
    # up to 96 units every count is tried
    assert tried_counts(8, 768, 1024.0) == tried_counts(8, 768)

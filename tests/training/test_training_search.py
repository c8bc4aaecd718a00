"""The layout search against loops over the same rules that take each layout alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.training import search as module
from dcplan.training.grid import (
    KEYS,
    SMALL_MICRO_BATCHES,
    Axes,
    Case,
    default_axes,
    divisors,
    grid,
    layout_table,
)
from dcplan.training.memory import memory
from dcplan.training.search import Found, prepare, quick_search, search
from dcplan.training.step import least_step_s, step
from tests.training.tiny import BF16, COEFFICIENTS, DENSE, DEVICE, LAZY, MOE, REAL, STACK, setup

QUICK = settings(max_examples=80, deadline=None)
SMALL = replace(DENSE, layers=4, attention_layers=4, dense_layers=4)
SPARSE = replace(MOE, layers=3, attention_layers=3, dense_layers=1, moe_layers=2, experts=4)
LONG = 16_384

TINY = {
    "dense": (
        Case(SMALL, REAL, replace(LAZY, offloads=False), BF16, COEFFICIENTS, LONG, 4.0),
        6,
        None,
    ),
    "dense, three schedules": (
        Case(SMALL, REAL, LAZY, BF16, COEFFICIENTS, LONG, 4.0),
        4,
        Axes((0, 2), (1,), schedule=(0, 1, 2), offload=(0.0, 1.0)),
    ),
    "dense on a stack that shards": (
        Case(SMALL, REAL, replace(LAZY, zero=3, offloads=False), BF16, COEFFICIENTS, LONG, 4.0),
        6,
        None,
    ),
    "dense, a count that nothing divides": (
        Case(SMALL, REAL, LAZY, BF16, COEFFICIENTS, LONG, 12.5),
        7,
        Axes((0, 2), (0, 3)),
    ),
    "experts": (Case(SPARSE, REAL, LAZY, BF16, COEFFICIENTS, LONG, 3.0), 6, Axes((1,), (1,))),
    "experts, not cut by tensor parallel": (
        Case(SPARSE, REAL, LAZY, BF16, COEFFICIENTS, LONG, 4.0),
        8,
        Axes((2,), (1,), etp=False),
    ),
    "frozen base model": (
        Case(SMALL, REAL, LAZY, BF16, COEFFICIENTS, LONG, 4.0, trainable=0.0),
        4,
        Axes((0, 2), (1, 3)),
    ),
}


def _whole(a: float, b: float) -> bool:
    return a % b == 0


def _layouts(case: Case, ranks: int, axes: Axes) -> Iterator[dict[str, float]]:
    """Every layout the rules of :func:`search` allow, one by one."""
    shape, batch = case.shape, case.global_batch
    for tp in [t for t in range(1, ranks + 1) if _whole(shape.heads, t)]:
        even = [_whole(n, tp) or _whole(tp, n) for n in (shape.kv_heads, case.device.domain)]
        for cp in [c for c in range(1, ranks + 1) if _whole(case.seq_len, c) and all(even)]:
            for pp in range(1, min(shape.layers, ranks) + 1):
                if not (_whole(ranks, pp) or _whole(shape.layers, pp) or pp in {2, 4, 8, 16}):
                    continue
                for b in range(1, int(batch) + 1):
                    dp = min(ranks // (tp * cp * pp), int(batch / b))
                    asked = _whole(int(batch), b)
                    if not dp or not (asked or b in SMALL_MICRO_BATCHES):
                        continue
                    cut = {"tp": tp, "pp": pp, "dp": dp, "cp": cp, "micro_batch": b}
                    for ep, etp in _experts(case, axes, tp, dp * tp * cp):
                        for mode in _modes(case, axes, pp):
                            yield cut | {"ep": ep, "etp": etp} | mode


def _modes(case: Case, axes: Axes, pp: int) -> Iterator[dict[str, float]]:
    layers = case.shape.layers
    depth = next((n for n in (layers, layers + 2) if _whole(n, pp)), 0)
    for vpp in range(1, max(depth, layers) // pp + 1):
        drawn = vpp in {1, 2, 4} and vpp <= layers // pp
        if (pp == 1 and vpp > 1) or not (_whole(depth / pp, vpp) if depth else drawn):
            continue
        for zero in axes.zero:
            if zero == 3 and pp > 1 and case.stack.zero < 3:
                continue
            for recompute in axes.recompute:
                for offload in axes.offload if recompute < 2 else (0.0,):
                    for schedule in axes.schedule if pp > 1 and vpp == 1 else (0,):
                        mode = {"vpp": vpp, "zero": zero, "recompute": recompute}
                        yield mode | {"offload": offload, "schedule": schedule}


def _experts(case: Case, axes: Axes, tp: int, group: int) -> Iterator[tuple[int, int]]:
    if not case.shape.moe_layers:
        yield 1, 1
        return
    for ep in range(1, case.shape.experts + 1):
        for etp in {1, tp} if axes.etp else {1}:
            if _whole(case.shape.experts, ep) and _whole(group, ep * etp):
                yield ep, etp


def _evaluate(case: Case, one: dict[str, float]) -> tuple[float, float]:
    exact = case.global_batch / (one["dp"] * one["micro_batch"])
    group = one["pp"] if one["vpp"] > 1 else 1
    near = max(round(exact / group), 1) * group
    # a run rounds a batch that is within 10 % of complete groups
    count = exact if abs(near - exact) <= 0.1 * exact else math.ceil(exact / group) * group
    alone = setup(
        case.shape,
        case.device,
        case.stack,
        case.recipe,
        **one,
        micro_batches=count,
        seq_len=case.seq_len,
        trainable=case.trainable,
    )
    return float(step(alone).time_s[0]), float(memory(alone).total[0])


@cache
def _brute(name: str) -> tuple[list[dict[str, float]], list[tuple[float, float]]]:
    case, ranks, axes = TINY[name]
    every = list(_layouts(case, ranks, axes or default_axes(case)))
    return every, [_evaluate(case, one) for one in every]


def _usable(case: Case) -> float:
    return case.device.hbm_gb * 2**30 * COEFFICIENTS.search_memory_frac


def _limited(case: Case, existing: list[float], share: float) -> Case:
    """The case on an accelerator whose usable memory a share of the layouts fits."""
    limit = float(np.quantile(existing, share)) * (1 + 1e-9)
    return replace(
        case, device=replace(case.device, hbm_gb=limit / COEFFICIENTS.search_memory_frac / 2**30)
    )


@pytest.mark.parametrize("name", TINY)
def test_search_finds_what_plain_loops_find(name: str) -> None:
    case, ranks, axes = TINY[name]
    every, found = _brute(name)
    case = _limited(case, [existing for _, existing in found], 0.6)
    fitting = [(time, existing) for time, existing in found if existing <= _usable(case)]
    answer = search(case, ranks, axes=axes)
    assert answer.tried == len(every) > 20
    assert answer.feasible == len(fitting) < len(every)
    assert answer.step_time_s[0] == pytest.approx(min(fitting)[0], rel=1e-9)
    assert answer.least_bytes == pytest.approx(min(existing for _, existing in found), rel=1e-12)
    best = {k: float(answer.layouts[k][0]) for k in KEYS}
    assert best in [{k: float(v) for k, v in one.items()} for one in every]
    assert _evaluate(case, best) == pytest.approx(
        (answer.step_time_s[0], answer.memory_bytes[0]), rel=1e-9
    )


def test_all_kept_are_all_feasible_ones_in_order() -> None:
    case, ranks, axes = TINY["dense"]
    _, found = _brute("dense")
    answer = search(case, ranks, axes=axes, keep=10_000)
    assert answer.step_time_s == pytest.approx(sorted(time for time, _ in found), rel=1e-7)


@pytest.mark.parametrize("name", ["dense", "experts"])
def test_frontier_is_a_pareto_set(name: str) -> None:
    """Slower ones hold less; and nothing that fits is both faster and leaner than one of them."""
    case, ranks, axes = TINY[name]
    found = np.array(_brute(name)[1])
    answer = search(case, ranks, axes=axes)
    assert answer.step_time_s.size > 3
    assert (np.diff(answer.memory_bytes) < 0).all()
    assert (np.diff(answer.step_time_s) >= -1e-6 * answer.step_time_s[0]).all()
    for time, existing in zip(answer.step_time_s, answer.memory_bytes, strict=True):
        assert not ((found[:, 0] < time * (1 - 1e-6)) & (found[:, 1] < existing * (1 - 1e-9))).any()
    # the leanest of all is always its end
    assert answer.memory_bytes[-1] == pytest.approx(found[:, 1].min(), rel=1e-12)


@pytest.mark.parametrize("share", [1.0, 0.4])
@pytest.mark.parametrize("name", TINY)
def test_bounds_never_lose_the_fastest(name: str, share: float) -> None:
    """The quick search leaves out what its bound shows to be slower, so its fastest are those of
    the whole search."""
    case, ranks, axes = TINY[name]
    case = _limited(case, [existing for _, existing in _brute(name)[1]], share)
    whole = search(case, ranks, axes=axes, keep=5)
    for largest in (ranks, 2 * ranks):  # prepared for more ranks than are laid out
        quick = quick_search(prepare(case, largest, axes), ranks, 5)
        assert quick.tried == whole.tried
        assert quick.step_time_s[:5] == pytest.approx(whole.step_time_s[:5], rel=1e-12)
        assert 0 < quick.feasible <= whole.feasible


@pytest.mark.parametrize("name", TINY)
def test_bound_lies_below_every_step(name: str) -> None:
    case, ranks, axes = TINY[name]
    ready = prepare(case, ranks, axes)
    for block, _, mode in grid(case, ranks, ready.axes, ready.columns):
        layout = layout_table(case, block)
        bound = least_step_s(ready.one.least_s[mode], layout)
        time = step(replace(ready.setup, layout=layout)).time_s
        assert (bound <= time * (1 + 1e-9)).all()
        assert (bound > 0.2 * time).any()  # and close enough to be of use


def _same(a: Found, b: Found) -> bool:
    counts = (a.tried, a.feasible, a.least_bytes) == (b.tried, b.feasible, b.least_bytes)
    columns = all(np.array_equal(a.layouts[k], b.layouts[k]) for k in KEYS)
    return counts and columns and np.array_equal(a.step_time_s, b.step_time_s)


@pytest.mark.parametrize("chunk", [7, 64])
@pytest.mark.parametrize("name", ["dense", "experts"])
def test_answer_does_not_depend_on_how_the_table_is_cut(
    name: str, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, ranks, axes = TINY[name]
    whole = search(case, ranks, axes=axes, keep=5)
    assert whole.tried < module.CHUNK  # all at once
    monkeypatch.setattr(module, "CHUNK", chunk)
    assert _same(search(case, ranks, axes=axes, keep=5), whole)


def test_what_no_layout_holds_is_said_with_the_leanest() -> None:
    case, ranks, axes = TINY["dense"]
    none = search(replace(case, device=replace(case.device, hbm_gb=0.1)), ranks, axes=axes)
    assert none.feasible == 0
    assert none.step_time_s.size == 0
    assert none.tried == search(case, ranks, axes=axes).tried
    assert none.least is not None
    assert _evaluate(case, none.least)[1] == pytest.approx(none.least_bytes, rel=1e-12)


@given(st.integers(1, 100_000))
@QUICK
def test_divisors_divide_and_none_is_missing(n: int) -> None:
    found = divisors(n)
    assert found == sorted(set(found))
    assert all(n % d == 0 for d in found)
    powers: dict[int, int] = {}
    rest, p = n, 2
    while rest > 1:
        while rest % p == 0:
            powers[p], rest = powers.get(p, 0) + 1, rest // p
        p += 1 if p * p <= rest else max(rest - p, 1)
    assert len(found) == math.prod(e + 1 for e in powers.values())


@pytest.mark.parametrize(
    ("stack", "host_gb_per_s", "expected"),
    [
        (STACK, 400.0, Axes((0, 1, 2), (1, 3), offload=(0.0, 1.0))),
        (STACK, 64.0, Axes((0, 1, 2), (1, 3))),  # PCIe
        (replace(STACK, offloads=False), 400.0, Axes((0, 1, 2), (1, 3))),
        (replace(STACK, zero=0, recompute=("none", "full")), 64.0, Axes((0, 2), (0, 1, 3))),
        (replace(STACK, zero=3, recompute=("selective", "full")), 64.0, Axes((1, 2), (3,))),
    ],
)
def test_axes_are_what_the_stack_can_do(
    stack: object, host_gb_per_s: float, expected: Axes
) -> None:
    case = replace(
        TINY["dense"][0], stack=stack, device=replace(DEVICE, host_gb_per_s=host_gb_per_s)
    )
    assert default_axes(case) == expected

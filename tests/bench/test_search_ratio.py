"""How much faster the search is than one layout after another in plain Python: a ratio, `pytest
-s` shows it."""

from __future__ import annotations

import time

import numpy as np

from dcplan.catalog.loader import load
from dcplan.catalog.schema import Model
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.speed import hardware
from dcplan.llm.config import from_config
from dcplan.training.estimate import case_of
from dcplan.training.grid import (
    KEYS,
    Case,
    case_setup,
    default_axes,
    grid,
    inner_columns,
    layout_table,
)
from dcplan.training.memory import memory
from dcplan.training.search import search, usable_bytes
from dcplan.training.step import step

RANKS = 4096
SAMPLE = 150


def gpt3() -> Case:
    """GPT-3 175B, 1,536 sequences of 2,048 tokens, on A100 with 25 GB/s each."""
    catalog = load()
    shape = from_config(catalog.get("models", "gpt3-175b", Model).config)
    spec = hardware("a100-80g-sxm", "bf16", 25.0, InputLog(catalog), moe=False)
    assert not isinstance(spec, str)
    return case_of(shape, 2048, 1536 * 2048, spec)


def whole_grid(case: Case) -> dict[str, np.ndarray]:
    """Every valid layout, as the search cuts them."""
    axes = default_axes(case)
    blocks = [block for block, _, _ in grid(case, RANKS, axes, inner_columns(case, RANKS, axes))]
    return {k: np.concatenate([b[k] for b in blocks]) for k in KEYS}


def one(case: Case, columns: dict[str, np.ndarray], i: int) -> tuple[float, float]:
    """Memory and, where it fits, time of one layout by the same formula: one row a table."""
    setup = case_setup(case, layout_table(case, {k: v[i : i + 1] for k, v in columns.items()}))
    existing = float(memory(setup).total[0])
    if existing > usable_bytes(case):
        return float("inf"), existing
    return float(step(setup).time_s[0]), existing


def test_the_search_is_20_times_a_plain_loop_over_the_same_formula() -> None:
    case = gpt3()
    grid = whole_grid(case)
    size = grid["tp"].size
    search(case, RANKS)  # warm
    spent = []
    for _ in range(3):
        began = time.perf_counter()
        found = search(case, RANKS)
        spent.append(time.perf_counter() - began)
    assert found.tried == size  # the loop walks the grid that the search tried
    picked = np.random.default_rng(1).choice(size, SAMPLE, replace=False)
    one(case, grid, int(picked[0]))  # warm
    began = time.perf_counter()
    answers = [one(case, grid, int(i)) for i in picked]
    plain = (time.perf_counter() - began) / SAMPLE * size
    fast = min(spent)
    print(
        f"\n{size:,} layouts: search {fast:.3f} s, {size / fast:,.0f} layouts/s; "
        f"plain loop {plain:.1f} s, {size / plain:,.0f} layouts/s; ratio {plain / fast:.0f}"
    )
    assert plain / fast > 20
    # and no layout of the sample that fits is faster than the one found
    assert 0 < found.step_time_s[0] <= min(t for t, _ in answers) * (1 + 1e-9)


def test_the_search_gives_each_layout_the_plain_formula_s_figures() -> None:
    case = gpt3()
    found = search(case, RANKS, keep=60)
    for i in range(found.step_time_s.size):
        time_s, existing = one(case, found.layouts, i)
        assert abs(time_s / found.step_time_s[i] - 1) < 1e-9
        assert abs(existing / found.memory_bytes[i] - 1) < 1e-9

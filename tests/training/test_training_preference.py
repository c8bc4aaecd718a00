"""Layouts that an expert would run, against published ones; the order of the rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dcplan.catalog.loader import load
from dcplan.catalog.schema import Model
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.speed import hardware
from dcplan.llm.config import from_config
from dcplan.training.estimate import case_of
from dcplan.training.grid import KEYS, Case, case_setup, layout_table
from dcplan.training.preference import preference, preferred, usual_experts
from dcplan.training.search import Found, search
from dcplan.training.step import step
from tests.training.tiny import BF16, COEFFICIENTS, DENSE, DEVICE, MOE, STACK

PLAIN = Case(DENSE, DEVICE, STACK, BF16, COEFFICIENTS, 8192, 64.0)
OFF = ("recompute", "schedule", "offload")


def _asked(model: str, part: str, precision: str, seq_len: int, batch: int) -> tuple[Case, float]:
    """The case of ``batch`` sequences with 400 Gb/s each, and its tolerance."""
    catalog = load()
    shape = from_config(catalog.get("models", model, Model).config)
    found = hardware(part, precision, 50.0, InputLog(catalog), moe=shape.moe_layers > 0)
    assert not isinstance(found, str)
    case = case_of(shape, seq_len, batch * seq_len, found)
    return case, min(found.spread_frac, case.coefficients.layout_tolerance_frac)


def _chosen(case: Case, ranks: int, tolerance: float) -> tuple[dict[str, float], Found]:
    found = preferred(case, ranks, search(case, ranks, keep=5, tolerance_frac=tolerance), 5)
    assert found.near is not None
    assert found.step_time_s[0] <= found.near.step_time_s.min() * (1 + tolerance) * (1 + 1e-12)
    return {k: float(v[0]) for k, v in found.layouts.items()}, found


@pytest.mark.parametrize(
    ("ask", "ranks", "published"),
    [
        # The Llama 3 Herd of Models, arXiv 2407.21783, table 4
        (
            ("llama-3.1-405b", "h100-sxm", "bf16", 8192, 2048),
            16384,
            {"tp": 8, "cp": 1, "pp": 16, "dp": 128, "zero": 1},
        ),
        (
            ("llama-3.1-405b", "h100-sxm", "bf16", 131_072, 128),
            16384,
            {"tp": 8, "cp": 16, "pp": 16, "dp": 8},
        ),
        # NeMo 70B: tp 4 and pp 4 (catalogs/runs); it has cp 2, which the rule avoids
        (("llama-3.1-70b", "h100-sxm", "bf16", 8192, 1024), 512, {"tp": 4, "cp": 1, "pp": 4}),
        # Megatron-Bridge (catalogs/runs): experts on 8, 2 stages
        (("qwen3-30b-a3b", "h100-sxm", "bf16", 4096, 1024), 64, {"ep": 8, "pp": 2, "tp": 1}),
        # Megatron-Bridge (catalogs/runs): 64 of the 72 accelerators of a rack
        (("qwen3-235b-a22b", "gb200", "bf16", 4096, 2048), 256, {"ep": 64, "cp": 1}),
        (("deepseek-v3", "gb200", "mxfp8", 4096, 2048), 256, {"ep": 64, "pp": 4, "tp": 1}),
        # DGX Cloud recipes 24.11.1 and 25.04.02 (catalogs/runs): context parallel, not tensor parallel
        (("llama-3.1-8b", "h100-sxm", "bf16", 8192, 1024), 64, {"tp": 1, "cp": 2, "pp": 1}),
        # rules alone
        (("mixtral-8x7b", "h100-sxm", "bf16", 4096, 1024), 64, {"ep": 8, "cp": 1, "etp": 1}),
    ],
)
def test_the_chosen_layout_has_the_published_properties(
    ask: tuple[Any, ...], ranks: int, published: dict[str, float]
) -> None:
    case, tolerance = _asked(*ask)
    chosen, _ = _chosen(case, ranks, tolerance)
    assert {k: chosen[k] for k in published} == published
    assert chosen["offload"] == 0
    assert chosen["tp"] <= 8


@pytest.mark.parametrize(
    ("ask", "ranks", "published"),
    [
        # DeepSeek-V3, arXiv 2412.19437, section 3.2: 16 stages, experts on 64 ranks; 1F1B stands in
        # for its DualPipe, which the search does not try, and full recompute for its operators
        (
            ("deepseek-v3", "h800-sxm", "fp8", 4096, 15_360),
            2048,
            {"pp": 16, "dp": 128, "ep": 64, "recompute": 2},
        ),
        # catalogs/runs, DGX Cloud recipes, NeMo and Megatron-Bridge
        (("llama-3.1-8b", "h100-sxm", "bf16", 8192, 1024), 64, {"dp": 32, "cp": 2}),
        (
            ("llama-3.1-70b", "h100-sxm", "bf16", 8192, 512),
            64,
            {"tp": 4, "pp": 4, "vpp": 5, "cp": 2, "dp": 2},
        ),
        # Qwen3 30B-A3B in Megatron-Bridge on GB200: experts on 8, 4 sequences
        (("qwen3-30b-a3b", "gb200", "bf16", 4096, 1024), 64, {"dp": 64, "ep": 8, "micro_batch": 4}),
    ],
)
def test_the_chosen_layout_is_no_slower_than_a_published_one(
    ask: tuple[Any, ...], ranks: int, published: dict[str, float]
) -> None:
    case, tolerance = _asked(*ask)
    _, found = _chosen(case, ranks, tolerance)
    columns = {k: np.array([float(published.get(k, 0 if k in OFF else 1))]) for k in KEYS}
    time_s = float(step(case_setup(case, layout_table(case, columns))).time_s[0])
    assert found.step_time_s[0] <= time_s * (1 + tolerance)


def _columns(**given: list[float]) -> dict[str, np.ndarray]:
    size = len(next(iter(given.values())))
    usual = {k: [0.0 if k in OFF else 1.0] * size for k in KEYS}
    return {k: np.array(v, dtype=np.float64) for k, v in (usual | given).items()}


def test_a_major_rule_outweighs_time_and_all_rules_after_it() -> None:
    """Context parallelism is slower by nothing and lost; a micro-batch of 4 comes after it."""
    x = _columns(cp=[2, 1, 1], dp=[4, 8, 8], micro_batch=[1, 4, 1])
    assert list(preference(PLAIN, 8, x, np.array([1.0, 1.02, 1.05]))) == [2, 1, 0]


def test_a_minor_rule_decides_only_within_one_percent() -> None:
    """Two stages are preferred to four at 0.9 % more time, not at 1.1 %."""
    x = _columns(pp=[4, 2], dp=[2, 4])
    assert list(preference(PLAIN, 8, x, np.array([1.0, 1.009]))) == [1, 0]
    assert list(preference(PLAIN, 8, x, np.array([1.0, 1.011]))) == [0, 1]


def test_long_sequences_are_divided_to_8k_tokens_of_a_rank() -> None:
    """131,072 tokens: 16 ranks are usual, 32 are not."""
    case = Case(DENSE, DEVICE, STACK, BF16, COEFFICIENTS, 131_072, 64.0)
    x = _columns(cp=[32, 16], dp=[1, 2])
    assert list(preference(case, 32, x, np.array([1.0, 1.05]))) == [1, 0]


def test_experts_are_spread_over_the_domain() -> None:
    """16 experts, 8 ranks of a domain: 8 before 4, and 4 before 16 as both are one doubling away."""
    case = Case(MOE, DEVICE, STACK, BF16, COEFFICIENTS, 8192, 64.0)
    x = _columns(ep=[16, 4, 8], dp=[16, 16, 16])
    assert list(preference(case, 16, x, np.array([1.02, 1.01, 1.05]))) == [2, 1, 0]
    assert usual_experts(60, 8) == 4


def test_a_search_without_a_tolerance_stays_as_it_is() -> None:
    found = search(PLAIN, 8, keep=3)
    assert preferred(PLAIN, 8, found, 3) is found


def test_near_layouts_are_all_within_the_tolerance() -> None:
    whole = search(PLAIN, 8, keep=100_000)
    near = search(PLAIN, 8, keep=1, tolerance_frac=0.2).near
    assert near is not None
    within = whole.step_time_s <= whole.step_time_s[0] * 1.2
    assert 1 < near.step_time_s.size == within.sum() < whole.step_time_s.size
    assert np.sort(near.step_time_s) == pytest.approx(whole.step_time_s[within], rel=1e-12)

"""`dcplan train`: identities between its metrics, and what a bad request says."""

from __future__ import annotations

from typing import Any

import pytest

import dcplan
from dcplan.errors import InputError
from dcplan.result import Result

ASKED: dict[str, Any] = {"system": "dgx-h100", "accelerators": 1024, "tokens": 1e12}


@pytest.fixture(scope="module")
def run() -> Result:
    """Llama 3.1 70B, 1e12 tokens on 1,024 H100."""
    return dcplan.train("llama-3.1-70b", **ASKED)


def test_days_hours_tokens_and_goodput_agree(run: Result) -> None:
    # days = tokens / (tokens/s per accelerator x accelerators) / 86,400 / goodput
    rate = run.value("tokens_per_s_per_accelerator") * 1024
    days = 1e12 / rate / 86_400 / run.value("goodput_frac")
    assert run.value("days_p50") == pytest.approx(days, rel=1e-6)
    assert run.value("accelerator_hours") == pytest.approx(run.value("days_p50") * 24 * 1024, rel=1e-9)
    assert run.value("days_p10") < run.value("days_p50") < run.value("days_p90")


def test_step_time_is_the_batch_over_the_rate_and_the_sum_of_its_parts(run: Result) -> None:
    # the batch is whole sequences over dp ranks: within one sequence per rank of 4e6 tokens
    rate = run.value("tokens_per_s_per_accelerator") * 1024
    assert run.value("step_time_s") * rate == pytest.approx(4e6, rel=0.04)
    parts = run.frame("breakdown")
    assert parts["time_s"].sum() == pytest.approx(run.value("step_time_s"), rel=1e-9)
    assert parts["share_frac"].sum() == pytest.approx(1, rel=1e-9)


def test_mfu_is_model_flops_over_the_dense_peak(run: Result) -> None:
    # H100 SXM: 989.4 TFLOP/s dense BF16 (NVIDIA H100 data sheet, half of the sparse figure)
    assert run.value("mfu_frac") == pytest.approx(run.value("tflops_per_accelerator") / 989.4, rel=2e-3)
    assert 0.3 < run.value("mfu_frac") < 0.6  # public runs of this size: 35 % to 55 %
    assert run.value("hfu_frac") >= run.value("mfu_frac")


def test_layout_uses_every_accelerator_and_fits(run: Result) -> None:
    layout = run.frame("layout").iloc[0]
    assert layout["tp"] * layout["pp"] * layout["cp"] * layout["dp"] == 1024
    assert 0 < run.value("memory_gib") < 80
    assert 0 < run.value("search.feasible") <= run.value("search.layouts")


def test_twice_the_tokens_take_twice_the_days(run: Result) -> None:
    twice = dcplan.train("llama-3.1-70b", **{**ASKED, "tokens": 2e12})
    assert twice.value("days_p50") == pytest.approx(2 * run.value("days_p50"), rel=1e-9)
    assert twice.value("energy_mwh") == pytest.approx(2 * run.value("energy_mwh"), rel=1e-9)


def test_a_model_too_large_for_memory_exits_1() -> None:
    # 405e9 parameters x 16 bytes of state = 6.5 TB; 8 x 80 GB = 0.64 TB
    result = dcplan.train("llama-3.1-405b", system="dgx-h100", accelerators=8, tokens=1e9)
    assert (result.status, result.exit_code) == ("does_not_fit", 1)
    assert result.value("search.feasible") == 0


@pytest.mark.parametrize(
    ("model", "change", "words"),
    [
        ("llama-3.1-70", {}, 'did you mean "llama-3.1-70b"'),
        ("llama-3.1-70b", {"system": "dgx-h10"}, 'did you mean "dgx-h100"'),
        ("llama-3.1-70b", {"system": None}, "--system"),
        ("llama-3.1-70b", {"accelerators": None}, "--accelerators"),
        ("llama-3.1-70b", {"precision": "fp4"}, "fp4"),  # Hopper has no FP4
    ],
)
def test_bad_requests_are_refused_with_the_mend(model: str, change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as refused:
        dcplan.train(model, **{**ASKED, **change})
    assert words in str(refused.value)

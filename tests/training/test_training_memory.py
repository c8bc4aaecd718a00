"""Closed-form memory: hand calculations and conservation over the ranks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.catalog.loader import load
from dcplan.catalog.schema import Model
from dcplan.training.architecture import Architecture, from_config
from dcplan.training.memory import ACTIVATION_BYTES, memory_gb

QUICK = settings(max_examples=60, deadline=None)
POWERS = st.sampled_from([1, 2, 4, 8])


def _shape(name: str) -> Architecture:
    return from_config(load().get("models", name, Model).config)


def _gb(shape: Architecture, seq_len: int, mode: str, **layout: int) -> float:
    axes = {k: np.array(float(layout.get(k, 1))) for k in ("tp", "pp", "cp", "ep", "dp")}
    return float(memory_gb(shape, seq_len, activation_bytes=np.array(ACTIVATION_BYTES[mode]), **axes))


def test_llama_8b_by_hand() -> None:
    """Llama 3.1 8B, tp 2, pp 2, dp 4, sequence 8,192, selective recompute.

    8,030,261,248 / 4 x (2 + 4 + 12/4) = 18.068 GB; 8,192 x 4,096 x 32 x 34 / 2 = 18.254 GB;
    logits 8,192 x 128,256 x 4 / 2 = 2.101 GB.
    """
    found = _gb(_shape("llama-3.1-8b"), 8192, "selective", tp=2, pp=2, dp=4)
    assert found == pytest.approx(18.068087808 + 18.253611008 + 2.101346304, rel=1e-9)


def test_context_parallel_halves_what_the_sequence_costs() -> None:
    # the same 4 replicas of the states as cp 2 x dp 2: 18.068 GB stay, activations and logits are halved
    found = _gb(_shape("llama-3.1-8b"), 8192, "selective", tp=2, pp=2, cp=2, dp=2)
    assert found == pytest.approx(18.068087808 + (18.253611008 + 2.101346304) / 2, rel=1e-9)


def test_mixtral_8x22b_by_hand() -> None:
    """tp 8, ep 8, dp 8, sequence 4,096, full recompute; 135,291,469,824 of the parameters are experts.

    Shared 5,329,164,288 / 8 x (6 + 12/8) = 4.996 GB; experts / 64 x (6 + 12/1) = 38.051 GB (one replica);
    4,096 x 6,144 x 56 x 2 / 8 = 0.352 GB; logits 4,096 x 32,000 x 4 / 8 = 0.066 GB.
    """
    found = _gb(_shape("mixtral-8x22b"), 4096, "full", tp=8, ep=8, dp=8)
    assert found == pytest.approx(4.99609152 + 38.050725888 + 0.352321536 + 0.065536, rel=1e-9)


def test_one_rank_holds_18_bytes_a_parameter() -> None:
    # Rajbhandari et al. (arXiv 1910.02054): 2 + 2 + 12 with half gradients; gradients are FP32 here: 18
    shape = _shape("llama-3.1-405b")
    activations = 8192 * 16384 * 126 * 2 + 8192 * 128_256 * 4
    assert _gb(shape, 8192, "full") == pytest.approx((405_853_388_800 * 18 + activations) / 1e9)


def test_activation_bytes_are_korthikanti_s() -> None:
    # arXiv 2205.05198: 34 s b h a layer with selective, 2 s b h with full recompute; 8B has 32 layers of 4,096
    shape = _shape("llama-3.1-8b")
    difference = _gb(shape, 4096, "selective") - _gb(shape, 4096, "full")
    assert difference == pytest.approx(4096 * 4096 * 32 * (34 - 2) / 1e9)


@given(POWERS, POWERS, POWERS, POWERS, st.sampled_from([1, 2, 4, 8]))
@QUICK
def test_ranks_together_hold_every_parameter(tp: int, pp: int, cp: int, dp: int, ep: int) -> None:
    """Where the experts fit the data-parallel ranks (ep <= dp cp) all 18 bytes a parameter are somewhere."""
    shape = _shape("mixtral-8x7b")
    if ep > dp * cp:
        ep = dp * cp
    each = _gb(shape, 1, "full", tp=tp, pp=pp, cp=cp, dp=dp, ep=ep)
    assert each * tp * pp * cp * dp >= shape.params * 18 / 1e9 * (1 - 1e-9)


@given(POWERS, POWERS, POWERS, POWERS, st.sampled_from(["tp", "pp", "cp", "dp"]))
@QUICK
def test_splitting_further_never_needs_more(tp: int, pp: int, cp: int, dp: int, axis: str) -> None:
    shape = _shape("llama-3.1-70b")
    layout = {"tp": tp, "pp": pp, "cp": cp, "dp": dp}
    more = {**layout, axis: layout[axis] * 2}
    assert _gb(shape, 8192, "selective", **more) < _gb(shape, 8192, "selective", **layout)


@given(st.integers(1, 65_536), POWERS)
@QUICK
def test_memory_is_linear_in_the_sequence(seq_len: int, cp: int) -> None:
    shape = _shape("llama-3.1-8b")
    zero, one, two = (_gb(shape, n * seq_len, "selective", cp=cp) for n in (0, 1, 2))
    assert two - one == pytest.approx(one - zero, rel=1e-6)

"""Host time, dispatch and casts of a stack's release: hand calculations on the small model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dcplan.llm.config import from_config
from dcplan.llm.operations import Setup
from dcplan.training.micro_batch import operators
from dcplan.training.step import step
from tests.training.tiny import COEFFICIENTS, DENSE, DEVICE, FP8, LAYER, MOE, STACK, setup

TOKENS = 1024
BARE = replace(MOE, vocab=0)
LATENT = from_config(
    {
        "hidden_size": 1024,
        "num_hidden_layers": 4,
        "intermediate_size": 4096,
        "num_attention_heads": 8,
        "vocab_size": 1024,
        "kv_lora_rank": 256,
        "q_lora_rank": 0,
        "qk_rope_head_dim": 64,
        "qk_nope_head_dim": 64,
        "v_head_dim": 128,
        "model_type": "deepseek_v2",
    }
)
SLOW_HOST = replace(STACK, launch_us=10.0e3 / 36.0, moe_host_ms=10.0)
"""80 ms of launches of the 8 blocks, 36 operators each, and 60 ms of the 6 blocks with experts."""


def _time(found: Setup) -> float:
    return float(step(found).time_s[0])


def _part(name: str, found: Setup) -> float:
    return float(np.broadcast_to(step(found).parts_s[name], 1)[0])


def test_operators_of_a_block_by_hand() -> None:
    # attention 21, latent attention 15 more, MLP or experts 15
    assert operators(setup(DENSE))[0] == 8 * (21 + 15)
    assert operators(setup(MOE))[0] == 8 * 21 + 2 * 15 + 6 * 15
    assert operators(setup(LATENT))[0] == 4 * (21 + 15 + 15)
    ends = replace(COEFFICIENTS, operators=replace(COEFFICIENTS.operators, ends=40.0))
    assert operators(replace(setup(DENSE), coefficients=ends))[0] == 8 * (21 + 15) + 40


@pytest.mark.parametrize(
    ("graphs", "overlap", "host_s"),
    [
        ("none", False, 80e-3 + 60e-3),
        ("partial", False, 80e-3 + 0.5 * 60e-3),  # only the routing is in a graph
        ("full", False, 0.25 * (80e-3 + 60e-3)),  # all launches are
        ("none", True, 80e-3 + 1.2 * 60e-3),  # a schedule with overlap launches more
        ("partial", True, 80e-3 + 0.5 * 1.2 * 60e-3),
    ],
)
def test_graphs_take_their_share_of_the_host_time(
    graphs: str, overlap: bool, host_s: float
) -> None:
    stack = replace(
        SLOW_HOST,
        moe_graphs=graphs,
        moe_overlap=overlap,
        partial_graph_frac=0.5,
        full_graph_frac=0.25,
        scheduled_host_factor=1.2,
    )
    assert _time(setup(BARE, stack=stack, micro_batches=3)) == pytest.approx(3 * host_s, rel=1e-9)


def test_a_dense_model_pays_no_host_time_of_experts() -> None:
    bare = replace(DENSE, vocab=0)
    assert _time(setup(bare, stack=SLOW_HOST)) == pytest.approx(80e-3, rel=1e-9)


def test_fused_dispatch_leaves_its_share_of_the_passes() -> None:
    """Six passes over 2 rows of 1,024 and three over 2 rows of 512, 16 bit, of 1,024 tokens, 6 layers.

    The share of the dispatcher is 0.8, that of full graphs 0.4. Backward passes are 1.6 times as many.
    """
    real = replace(DEVICE, hbm_tb_per_s=3.0)
    base = replace(STACK, elementwise=1.5, full_passes_frac=0.4)
    permute_s = 6 * TOKENS * 2 * (6 * 1024 + 3 * 512) * 2 * 1.5 / 3e12 * 2.6

    def passes(**given: object) -> float:
        return _part("elementwise", setup(MOE, real, replace(base, **given)))  # type: ignore[arg-type]

    whole = passes()
    assert whole - passes(moe_passes_frac=0.8) == pytest.approx(0.2 * permute_s, rel=1e-9)
    full = passes(moe_passes_frac=0.8, moe_graphs="full")
    assert whole - full == pytest.approx((1 - 0.8 * 0.4) * permute_s, rel=1e-9)


@pytest.mark.parametrize(("combined", "sent_rows"), [(True, 1.3125), (False, 1.5)])
def test_a_token_travels_once_a_rank_or_once_an_expert(combined: bool, sent_rows: float) -> None:
    """2 experts a token over 4 ranks: 3 x (1 - (3/4)^2) = 1.3125 rows, or 2 x 3/4 = 1.5, four trips."""
    stack = replace(STACK, moe_combined=combined)
    expected = 4 * 6 * TOKENS * 1024 * 2 * sent_rows / 400e9
    found = setup(MOE, stack=stack, dp=4, ep=4)
    assert _part("expert_parallel", found) == pytest.approx(expected, rel=1e-9)


def test_a_dispatcher_has_its_share_of_the_rate_on_both_networks() -> None:
    """A share of 0.5 doubles the time on the domain; over 16 ranks in two domains the NIC sets it.

    Of the other domain D = 1 x (1 - (1/2)^2) = 0.75 rows at 50 GB/s: 15 ps a byte, where the domain's
    15 x (1 - (15/16)^2) = 1.8164 rows at 400 GB/s take 4.5 ps.
    """
    half = replace(STACK, moe_rate_frac=0.5)
    inside = 4 * 6 * TOKENS * 1024 * 2 * 1.3125 / 200e9
    assert _part("expert_parallel", setup(MOE, stack=half, dp=4, ep=4)) == pytest.approx(
        inside, rel=1e-9
    )
    outside = 4 * 6 * TOKENS * 1024 * 2 * 0.75 / 25e9
    assert _part("expert_parallel", setup(MOE, stack=half, dp=16, ep=16)) == pytest.approx(
        outside, rel=1e-9
    )


@pytest.mark.parametrize(("overlap", "shown"), [(False, 0.9), (True, 0.35)])
def test_a_schedule_with_overlap_hides_its_own_share(overlap: bool, shown: float) -> None:
    stack = replace(STACK, ep_overlap_frac=0.1, scheduled_overlap_frac=0.65, moe_overlap=overlap)
    plain = _part("expert_parallel", setup(MOE, dp=4, ep=4))
    found = _part("expert_parallel", setup(MOE, stack=stack, dp=4, ep=4))
    assert found == pytest.approx(shown * plain, rel=1e-9)


def test_weights_at_32_bit_are_cast_once_a_micro_batch() -> None:
    """6 bytes a weight of 8 x 12,582,912 weights at 3 TB/s."""
    real = replace(DEVICE, hbm_tb_per_s=3.0)
    plain = _part("gemm", setup(device=real))
    cast = _part("gemm", setup(device=real, stack=replace(STACK, weight_cast_bytes=6.0)))
    assert cast - plain == pytest.approx(6 * 8 * LAYER / 3e12, rel=1e-9)


def test_unfused_casts_to_eight_bit_take_their_factor() -> None:
    """4 bytes an input value; forward inputs of a layer are 1,024 x (3 x 1,024 + 4,096) values.

    Backward inputs are the gradients of the outputs, 1,024 x (3 x 1,024 + 1,024 + 4,096 + 1,024).
    """
    real = replace(DEVICE, hbm_tb_per_s=3.0)
    values = 8 * TOKENS * ((1024 + 1024 + 1024 + 4096) + (3 * 1024 + 1024 + 4096 + 1024))
    plain, twice = (
        _part("gemm", setup(device=real, recipe=FP8, stack=replace(STACK, cast_factor=factor)))
        for factor in (1.0, 2.0)
    )
    assert twice - plain == pytest.approx(4 * values / 3e12, rel=1e-9)

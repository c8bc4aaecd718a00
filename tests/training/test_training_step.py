"""One optimizer step: hand-calculated compute, bubble and collectives, and what always holds."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.llm.config import from_config
from dcplan.llm.operations import Setup
from dcplan.llm.tables import SCHEDULES, rows
from dcplan.training.sharding import reduction
from dcplan.training.step import step
from tests.training.tiny import BF16, DENSE, DEVICE, FP8, LAYER, MOE, REAL, STACK, setup

QUICK = settings(max_examples=25, deadline=None)
TOKENS = 1024
PARTS = {
    "gemm",
    "grouped_gemm",
    "attention",
    "elementwise",
    "head",
    "host",
    "tensor_parallel",
    "context_parallel",
    "expert_parallel",
    "offload",
    "pipeline_send",
    "imbalance",
    "bubble",
    "data_parallel",
    "optimizer",
    "straggler",
}
LAYER_S = 6 * TOKENS * LAYER / 50e12
"""Forward and backward of one layer and one sequence at 50 TFLOP/s: 1.5462 ms."""
BARE = replace(DENSE, vocab=0)
"""No output layer: all stages are alike."""
FREE = replace(DEVICE, scaleup_gb_per_s=1e9, scaleout_gb_per_s=1e9)
"""Links that cost nothing."""
SLOW = replace(REAL, kernel_us=2.0, domain=DEVICE.domain)
BUSY = replace(
    STACK,
    launch_us=0.3e3 / 36.0,
    moe_host_ms=2.0,
    elementwise=1.5,
    tp_overlap_frac=0.3,
    dp_overlap_frac=0.6,
    pp_overlap_frac=0.4,
    ep_overlap_frac=0.1,
    contention_frac=0.25,
    straggler_frac=0.01,
    collective_us=50.0,
    selective_gemm_frac=0.2,
    context_frac=0.8,
)
UNFUSED = replace(BUSY, attention="unfused", sequence_parallel=False, dp_overlap_frac=0.0)


def _time(found: Setup) -> float:
    return float(step(found).time_s[0])


def _part(name: str, found: Setup) -> float:
    return float(np.broadcast_to(step(found).parts_s[name], 1)[0])


def test_one_rank_does_six_flops_a_parameter_and_token() -> None:
    # 8 layers of 1.5462 ms and the output layer, 6 x 1,024 x 1,024 x 1,024 = 6.44 GFLOP = 0.1288 ms
    head = 6 * TOKENS * 1024 * 1024 / 50e12
    assert _time(setup()) == pytest.approx(8 * LAYER_S + head, rel=1e-9)
    assert _part("head", setup()) == pytest.approx(head, rel=1e-9)
    assert _time(setup(micro_batches=16)) == pytest.approx(16 * (8 * LAYER_S + head), rel=1e-9)


def test_full_recompute_adds_a_forward_pass() -> None:
    assert _part("gemm", setup(recompute=2)) == pytest.approx(
        4 / 3 * _part("gemm", setup()), rel=1e-9
    )
    assert _part("head", setup(recompute=2)) == _part(
        "head", setup()
    )  # the output layer is not repeated


def test_selective_recompute_repeats_the_stack_s_share() -> None:
    some = replace(STACK, selective_gemm_frac=0.3)
    expected = _part("gemm", setup()) * (1 + 0.3 / 3)
    assert _part("gemm", setup(stack=some, recompute=1)) == pytest.approx(expected, rel=1e-9)


def test_causal_attention_by_hand() -> None:
    """8 layers: forward 2 s^2/2 a (d + d) = 2 x 1,024^2/2 x 8 x 256 = 2.147 GFLOP at 100 x 0.5
    TFLOP/s.

    Small-work loss: 1 + 300 / (1,024 x 8) forward, 1 + 100/8,192 backward at 2.5 times the work and
    0.8 of the speed.
    """
    slow = replace(DEVICE, attention_frac=0.5)
    forward = 8 * 2 * 1024**2 / 2 * 8 * 256 / 50e12
    expected = forward * (1 + 300 / 8192) + forward * 2.5 / 0.8 * (1 + 100 / 8192)
    assert _part("attention", setup(device=slow)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("vpp", "bubble"), [(1, 3.0), (2, 1.5)])
def test_bubble_of_1f1b_by_hand(vpp: int, bubble: float) -> None:
    """4 stages of 2 layers, 16 micro-batches: (p-1)(F+B) = 3 x 3.0924 ms, over v with v chunks.

    Narayanan et al., SC21, sections 2.2.1 and 2.2.2; the share of the bubble is (p-1)/(v m) = 3/16.
    """
    found = setup(BARE, FREE, pp=4, vpp=vpp, micro_batches=16)
    assert _part("bubble", found) == pytest.approx(bubble * 2 * LAYER_S, rel=1e-6)
    assert _time(found) == pytest.approx((16 + bubble) * 2 * LAYER_S, rel=1e-6)


@pytest.mark.parametrize(
    ("schedule", "bubble"),
    # DeepSeek-V3, arXiv 2412.19437, table 2, with F = dgrad = W = 1/3 of a pass, B = dgrad + W:
    # (p-1)(F+B-2W) = 3 x 1/3; (p/2-1)(F&B + B - 3W) = 1 x (1 + 2/3 - 1)
    [("1f1b", 3.0), ("zero-bubble", 1.0), ("dualpipe", 2 / 3)],
)
def test_bubble_of_the_schedules_by_hand(schedule: str, bubble: float) -> None:
    found = setup(BARE, FREE, pp=4, micro_batches=16, schedule=SCHEDULES.index(schedule))
    assert _part("bubble", found) == pytest.approx(bubble * 2 * LAYER_S, rel=1e-6)


@given(st.sampled_from([1, 2, 4, 8]), st.sampled_from([8, 16, 40]), st.booleans())
@QUICK
def test_split_backward_never_idles_more_than_1f1b(pp: int, micro_batches: int, moe: bool) -> None:
    shape = MOE if moe else DENSE
    bubbles = step(
        setup(shape, SLOW, BUSY, pp=[pp] * 3, micro_batches=micro_batches, schedule=[0, 1, 2])
    )
    plain, zero, dual = bubbles.parts_s["bubble"]
    assert 0 <= zero <= plain
    assert 0 <= dual <= plain
    assert (plain > 0) == (pp > 1)
    assert zero < plain or pp == 1


@given(st.integers(1, 60))
@QUICK
def test_more_micro_batches_amortise_the_pipeline(count: int) -> None:
    here, more = (
        _time(setup(DENSE, SLOW, BUSY, pp=4, dp=2, micro_batches=n)) / n for n in (count, count + 1)
    )
    assert more < here


def test_layers_that_do_not_divide_leave_the_last_stage_short() -> None:
    """8 layers on 3 stages: 3, 3 and 2; a micro-batch every 3 layers, 8/3 of them work: 1/3 layer
    lost each."""
    found = setup(BARE, FREE, pp=3, micro_batches=12)
    assert _part("imbalance", found) == pytest.approx(12 * LAYER_S / 3, rel=1e-6)
    assert _time(found) == pytest.approx((12 * 3 + 8 - 3) * LAYER_S, rel=1e-6)


def test_output_layer_on_the_last_stage_sets_the_pace() -> None:
    # vocabulary 12,288: its 6 x 1,024 x 1,024 x 12,288 FLOP are one layer's; stages 2, 2, 2 and 2 +
    # 1
    found = setup(replace(DENSE, vocab=12_288), FREE, pp=4, micro_batches=8)
    assert _time(found) == pytest.approx((7 * 3 + 9) * LAYER_S, rel=1e-6)


def test_frozen_base_model_skips_weight_gradients_and_optimizer() -> None:
    """LoRA: forward and input gradients are 2 of 3; nothing to reduce, no optimizer pass."""
    real = replace(DEVICE, hbm_tb_per_s=3.0)
    frozen, trained = (setup(BARE, real, trainable=on, dp=2) for on in (0, 1))
    assert _part("gemm", setup(trainable=0)) == pytest.approx(
        2 / 3 * _part("gemm", setup()), rel=1e-9
    )
    assert _part("optimizer", trained) > 0
    assert _part("data_parallel", trained) > 0
    assert _part("optimizer", frozen) == 0.0
    assert _part("data_parallel", frozen) == 0.0


def test_optimizer_reads_and_writes_its_states_once() -> None:
    # 2 x 12 bytes of states, 4 of gradient, 2 of weight at 3 TB/s, sharded over 4 ranks
    real = replace(DEVICE, hbm_tb_per_s=3.0)
    assert _part("optimizer", setup(device=real, dp=4)) == pytest.approx(
        DENSE.params / 4 * 30 / 3e12, rel=1e-9
    )
    assert _part("optimizer", setup(device=real, dp=4, zero=0)) == pytest.approx(
        DENSE.params * 30 / 3e12, rel=1e-9
    )


def test_replicas_of_shards_are_reduced_behind_a_pipeline_too() -> None:
    """Nothing hidden: eight ranks in shards of two gather, scatter and reduce between four
    replicas."""
    exposed = replace(BUSY, dp_overlap_frac=0.0, contention_frac=0.0, straggler_frac=0.0)
    piped = setup(stack=exposed, dp=8, pp=2, zero=3, shard=2)
    sent = reduction(piped)
    gather, scatter, replicate = (
        float(np.ravel(x)[0]) for x in (sent.gather, sent.scatter, sent.replicate)
    )
    assert replicate > 0.0
    assert _part("data_parallel", piped) == pytest.approx(gather + scatter + replicate, rel=1e-9)


def test_norms_residuals_and_activations_by_hand() -> None:
    """Passes over 16-bit tensors of 1,024 tokens at 3 TB/s; backward 1.6 times as many.

    Attention: 5 x 1,024 (norm, residual) and 2 x (8 + 8) x 128 rotary; MLP: 5 x 1,024 and 2 x 4,096
    (no gate).
    """
    real = replace(DEVICE, hbm_tb_per_s=3.0)
    values = 8 * 1024 * (5 * 1024 + 2 * 16 * 128 + 5 * 1024 + 2 * 4096)
    for share in (1.0, 1.5):
        found = setup(device=real, stack=replace(STACK, elementwise=share))
        assert _part("elementwise", found) == pytest.approx(
            2.6 * share * values * 2 / 3e12, rel=1e-9
        )


def test_unfused_attention_moves_its_scores() -> None:
    """13 bytes of traffic for each of 8 layers x 8 heads x 1,024^2 scores, forward and backward;
    nothing is causal.

    Products: forward 2 x 1,024^2 x 8 x 256 FLOP a layer, twice that backward, at 0.6 of 50 TFLOP/s.
    """
    real = replace(DEVICE, hbm_tb_per_s=3.0)
    expected = 8 * (2 * 13 * 8 * 1024**2 / 3e12 + 3 * 2 * 1024**2 * 8 * 256 / 30e12)
    assert _part(
        "attention", setup(device=real, stack=replace(STACK, attention="unfused"))
    ) == pytest.approx(expected)


def test_absent_shared_expert_costs_nothing() -> None:
    real = replace(DEVICE, hbm_tb_per_s=3.0)
    alone = replace(MOE, shared_ffn=0, vocab=0)
    plain, cast = (
        _part("gemm", setup(alone, real, recipe=replace(FP8, cast_bytes=x))) for x in (0.0, 4.0)
    )
    attention, dense = (
        8 * (3 + 1 + 1 + 1),
        2 * (1 + 8 + 4 + 1),
    )  # values cast, in 1,024s: in and out of each product
    assert cast - plain == pytest.approx((attention + dense) * 1024 * 1024 * 4 / 3e12, rel=1e-9)


def test_latent_attention_without_query_rank_projects_its_queries() -> None:
    """As in DeepSeek-V2-Lite: q_proj is hidden x heads (128 + 128 here); 6 FLOP a weight and
    token."""
    latent = {
        "kv_lora_rank": 512,
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 128,
        "v_head_dim": 128,
    }
    base = {"hidden_size": 2048, "num_hidden_layers": 1, "intermediate_size": 2048, "vocab_size": 0}
    shape = from_config({**base, **latent, "num_attention_heads": 16})
    norms = 512 + 2048 * 3
    assert _part("gemm", setup(shape)) == pytest.approx(
        6 * 1024 * (shape.params - norms) / 50e12, rel=1e-9
    )


def test_slow_host_sets_the_pace_of_small_work() -> None:
    """16 blocks x 10 ms / 2 = 80 ms a micro-batch, more than 12.4 ms of work; recompute launches a
    third more."""
    host = replace(STACK, launch_us=10.0e3 / 36.0)
    assert _time(setup(BARE, stack=host, micro_batches=3)) == pytest.approx(3 * 80e-3, rel=1e-9)
    assert _time(setup(BARE, stack=host, recompute=2)) == pytest.approx(80e-3 * 4 / 3, rel=1e-9)
    assert _part("host", setup(BARE, stack=replace(STACK, launch_us=1.0e3 / 36.0))) == 0.0


def test_stragglers_grow_with_the_nodes() -> None:
    # 64 ranks are 8 nodes: 0.01 x sqrt(2 ln 8) = 0.020394 of the step; one node has none
    some = replace(STACK, straggler_frac=0.01)
    assert _time(setup(stack=some, dp=64)) == pytest.approx(
        _time(setup(dp=64)) * 1.0203942, rel=1e-6
    )
    assert _time(setup(stack=some, dp=8)) == _time(setup(dp=8))


def test_offload_that_the_host_link_cannot_hide_shows() -> None:
    slow = replace(DEVICE, host_gb_per_s=1.0)
    moved = _part("offload", setup(device=slow, offload=1.0))
    assert 0 < _part("offload", setup(device=slow, offload=0.5)) < moved
    assert _part("offload", setup(device=replace(DEVICE, host_gb_per_s=1e6), offload=1.0)) == 0.0
    assert _part("offload", setup(device=slow)) == 0.0


def test_offload_crosses_the_host_link_out_and_back() -> None:
    """8 layers x 1,024 tokens x 32,800 bytes = 268.7 MB (test_training_memory) at 1 GB/s, once in
    either pass.

    0.9 of the forward and of the backward pass, 8 x 1.5462 ms together, hide as much: 537.4 - 11.1
    = 526.3 ms.
    """
    slow = replace(DEVICE, host_gb_per_s=1.0)
    expected = 2 * 8 * 1024 * 32_800 / 1e9 - 0.9 * 8 * LAYER_S
    assert _part("offload", setup(device=slow, offload=1.0)) == pytest.approx(expected, rel=1e-6)


LAYOUTS = st.fixed_dictionaries(
    {
        "tp": st.sampled_from([1, 2, 8]),
        "pp": st.sampled_from([1, 2, 3, 8]),
        "vpp": st.sampled_from([1, 2]),
        "dp": st.sampled_from([1, 4, 32]),
        "cp": st.sampled_from([1, 2]),
        "ep": st.sampled_from([1, 4]),
        "micro_batch": st.sampled_from([1, 4]),
        "micro_batches": st.sampled_from([1, 8, 24]),
        "recompute": st.sampled_from([0, 1, 2]),
        "zero": st.sampled_from([0, 1, 2, 3]),
        "schedule": st.sampled_from([0, 1, 2]),
        "offload": st.sampled_from([0.0, 1.0]),
        "trainable": st.sampled_from([0, 1]),
        "seq_len": st.sampled_from([1024, 8192]),
    }
)
SIDES = st.tuples(
    *(
        st.sampled_from(x)
        for x in ([DENSE, MOE], [DEVICE, SLOW], [STACK, BUSY, UNFUSED], [BF16, FP8])
    )
)


def _columns(layouts: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [x[name] for x in layouts] for name in layouts[0]}


def _many(sides: list[tuple[Any, ...]], layouts: list[dict[str, Any]]) -> Setup:
    return setup(*(list(side) for side in zip(*sides, strict=True)), **_columns(layouts))


@given(st.lists(st.tuples(SIDES, LAYOUTS), min_size=2, max_size=8))
@QUICK
def test_a_table_of_many_rows_is_each_row_alone(
    drawn: list[tuple[tuple[Any, ...], dict[str, Any]]],
) -> None:
    sides, layouts = [d[0] for d in drawn], [d[1] for d in drawn]
    together = step(_many(sides, layouts))
    for i, (side, one) in enumerate(drawn):
        alone = step(setup(*side, **one))
        assert together.time_s[i] == pytest.approx(float(alone.time_s[0]), rel=1e-12)
        for name in PARTS:
            part = np.broadcast_to(together.parts_s[name], len(drawn))[i]
            assert part == pytest.approx(
                float(np.broadcast_to(alone.parts_s[name], 1)[0]), rel=1e-9, abs=1e-15
            )


@given(st.lists(st.tuples(SIDES, LAYOUTS), min_size=1, max_size=8))
@QUICK
def test_parts_sum_to_the_step_and_none_is_negative(
    drawn: list[tuple[tuple[Any, ...], dict[str, Any]]],
) -> None:
    found = step(_many([d[0] for d in drawn], [d[1] for d in drawn]))
    assert set(found.parts_s) == PARTS
    assert found.time_s == pytest.approx(sum(found.parts_s.values()), rel=1e-12)
    for name, part in found.parts_s.items():
        assert (part >= -1e-9 * found.time_s).all(), name


SPEEDS = ["scaleup_gb_per_s", "scaleout_gb_per_s", "hbm_tb_per_s", "half_tflops"]


@given(SIDES, LAYOUTS, st.sampled_from(SPEEDS))
@QUICK
def test_a_faster_part_never_slows_the_step(
    side: tuple[Any, ...], one: dict[str, Any], name: str
) -> None:
    """But for 0.1 %: a faster output layer may draw the stages anew. The host is not what limits
    here."""
    shape, device, stack, recipe = side
    stack = replace(stack, launch_us=0.0, moe_host_ms=0.0)
    faster = replace(device, **{name: 2 * getattr(device, name)})
    slow, fast = (_time(setup(shape, d, stack, recipe, **one)) for d in (device, faster))
    assert fast <= slow * 1.001


def test_a_faster_accelerator_never_slows_a_step_that_the_host_limits() -> None:
    faster = replace(SLOW, half_tflops=200.0)
    slow, fast = (
        _time(setup(MOE, d, BUSY, dp=32, cp=2, ep=4, micro_batches=1)) for d in (SLOW, faster)
    )
    assert fast <= slow


def test_rows_of_a_table_keep_what_is_common() -> None:
    table = setup(pp=[1, 2, 4]).layout
    picked = rows(table, np.array([2, 0]))
    assert list(picked.pp) == [4, 1]
    model = rows(setup().model, np.array([0, 0, 0]))
    assert all(getattr(model, f.name).size == 1 for f in fields(model))

"""Collectives of a step by hand: tensor, context, expert, pipeline and data parallel."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.llm.operations import Setup
from dcplan.training.step import step
from dcplan.training.traffic import boundary_s
from tests.training.tiny import DENSE, DEVICE, FP8, LAYER, MOE, STACK, setup

QUICK = settings(max_examples=25, deadline=None)
TOKENS = 1024
LAYER_S = 6 * TOKENS * LAYER / 50e12
"""Forward and backward of one layer and one sequence at 50 TFLOP/s: 1.5462 ms."""


def _time(found: Setup) -> float:
    return float(step(found).time_s[0])


def _part(name: str, found: Setup) -> float:
    return float(np.broadcast_to(step(found).parts_s[name], 1)[0])


def test_pipeline_sends_cross_only_the_boundaries_that_leave_the_domain() -> None:
    """1,024 x 1,024 x 2 bytes each way; 16 micro-batches; chunks multiply the trips.

    Domain 1: all at 50 GB/s. Domain 8: four stages of one rank are inside, at 400 GB/s.
    """
    size = TOKENS * 1024 * 2
    outside = replace(DEVICE, domain=1.0)
    assert _part("pipeline_send", setup(device=outside, pp=4, micro_batches=16)) == pytest.approx(
        16 * 2 * size / 50e9, rel=1e-9
    )
    assert _part("pipeline_send", setup(pp=4, micro_batches=16)) == pytest.approx(
        16 * 2 * size / 400e9, rel=1e-9
    )
    assert _part("pipeline_send", setup(pp=4, vpp=2, micro_batches=16)) == pytest.approx(
        16 * 4 * size / 400e9, rel=1e-9
    )
    assert _part("pipeline_send", setup(micro_batches=16)) == 0.0


@pytest.mark.parametrize(("sequence_parallel", "gathers"), [(True, 0), (False, 1)])
def test_tensor_ranks_send_their_parts_to_the_next_stage(
    sequence_parallel: bool, gathers: int
) -> None:
    """tp 4, pp 2 in one domain at 400 GB/s: a quarter of 1,024 x 1,024 x 2 bytes is sent; the next
    stage gathers the other three quarters, if its blocks need the whole input."""
    stack = replace(STACK, sequence_parallel=sequence_parallel)
    part_s = TOKENS * 1024 * 2 / 4 / 400e9
    assert boundary_s(setup(stack=stack, tp=4, pp=2)) == pytest.approx(
        part_s * (1 + 3 * gathers), rel=1e-9
    )


def test_tensor_parallel_by_hand() -> None:
    """tp 4: 16 blocks, two halves forward and two backward of 3/4 x 1,024 x 1,024 x 2 bytes, at 400
    GB/s; a fifth backward where a rank keeps its part of the input only (sequence parallelism).

    The work of a rank is a quarter.
    """
    found = setup(tp=4)
    half_s = 0.75 * TOKENS * 1024 * 2 / 400e9
    assert _part("tensor_parallel", found) == pytest.approx(16 * 5 * half_s, rel=1e-9)
    whole = replace(STACK, sequence_parallel=False)
    assert _part("tensor_parallel", setup(stack=whole, tp=4)) == pytest.approx(
        16 * 4 * half_s, rel=1e-9
    )
    assert _part("gemm", found) == pytest.approx(8 * LAYER_S / 4, rel=1e-9)


def test_tensor_parallel_over_the_domain_is_slower() -> None:
    # 4 ranks in domains of 2: each ring has the 2 NICs of its own ranks, 100 GB/s for 400
    small = replace(DEVICE, domain=2.0)
    inside, outside = (_part("tensor_parallel", setup(device=d, tp=4)) for d in (DEVICE, small))
    assert outside == pytest.approx(4 * inside, rel=1e-9)
    assert _time(setup(device=small, tp=4)) > _time(setup(tp=4))


def test_overlap_hides_its_share_of_tensor_parallel() -> None:
    some = replace(STACK, tp_overlap_frac=0.4)
    assert _part("tensor_parallel", setup(stack=some, tp=4)) == pytest.approx(
        0.6 * _part("tensor_parallel", setup(tp=4)), rel=1e-9
    )


def test_each_collective_pays_its_launch() -> None:
    # 16 blocks, five collectives each, 10 us
    late = replace(STACK, collective_us=10.0)
    difference = _part("tensor_parallel", setup(stack=late, tp=4)) - _part(
        "tensor_parallel", setup(tp=4)
    )
    assert difference == pytest.approx(16 * 5 * 10e-6, rel=1e-9)
    assert _part("tensor_parallel", setup(stack=late)) == 0.0


def test_context_parallel_halves_the_work_and_passes_keys_and_values() -> None:
    """cp 2: 512 tokens a rank; 8 layers x 512 x 8 heads x (128 + 128) x 2 bytes once forward, twice
    backward.

    Attention is free here, so nothing hides it.
    """
    found = setup(cp=2)
    assert _part("gemm", found) == pytest.approx(4 * LAYER_S, rel=1e-9)
    assert _part("context_parallel", found) == pytest.approx(
        3 * 8 * 512 * 8 * 256 * 2 / 400e9, rel=1e-6
    )


def test_attention_hides_the_ring_and_unbalanced_rings_slow_attention() -> None:
    slow = replace(DEVICE, attention_frac=0.01)
    assert _part("context_parallel", setup(device=slow, cp=2)) == 0.0
    half = replace(STACK, context_frac=0.5)
    one, two = (_part("attention", setup(device=slow, stack=s, cp=2)) for s in (STACK, half))
    assert two == pytest.approx(2 * one, rel=1e-9)
    assert _part("attention", setup(device=slow, stack=half)) == _part(
        "attention", setup(device=slow)
    )


def test_experts_do_the_same_work_however_they_are_spread() -> None:
    """6 layers x 2 of 16 experts of 3 x 1,024 x 512 weights, 6 FLOP each and token; balanced over
    any ep."""
    work = 6 * TOKENS * 6 * 2 * 3 * 1024 * 512 / 50e12
    for ep in (1, 2, 16):
        assert _part("grouped_gemm", setup(MOE, dp=16, ep=ep)) == pytest.approx(work, rel=1e-9)
    assert _part("grouped_gemm", setup(DENSE)) == 0.0


def test_experts_cut_by_tensor_parallel_do_the_same_work() -> None:
    """tp 4: each rank computes its quarter, of the rows (etp 1) or of every expert's width (etp
    4)."""
    whole = _part("grouped_gemm", setup(MOE))
    for ep, etp in ((1, 1), (1, 4), (4, 1), (2, 2)):
        assert _part("grouped_gemm", setup(MOE, tp=4, ep=ep, etp=etp)) == pytest.approx(
            whole / 4, rel=1e-9
        )


def test_fewer_experts_a_rank_have_fuller_products() -> None:
    # 150 rows to half the speed; ep 16 brings one expert 16 times the rows of 16 experts
    few = replace(DEVICE, grouped_rows=150.0)
    spread, together = (_part("grouped_gemm", setup(MOE, few, dp=16, ep=ep)) for ep in (16, 1))
    assert spread < together


def test_expert_parallel_by_hand() -> None:
    """ep 4 in a domain: 1,024 rows to 3 x (1 - (3/4)^2) = 1.3125 others, 2 x 1,024 bytes a row, 6
    layers.

    Dispatch and combine forward, both again backward: four trips.
    """
    expected = 4 * 6 * TOKENS * 1024 * 2 * 1.3125 / 400e9
    assert _part("expert_parallel", setup(MOE, dp=4, ep=4)) == pytest.approx(expected, rel=1e-9)
    assert _part("expert_parallel", setup(MOE, dp=4)) == 0.0
    hidden = replace(STACK, ep_overlap_frac=0.25)
    assert _part("expert_parallel", setup(MOE, stack=hidden, dp=4, ep=4)) == pytest.approx(
        0.75 * expected, rel=1e-9
    )
    # eight bit out, 16 bit back: 1 + 2 forward, 2 + 2 backward
    assert _part("expert_parallel", setup(MOE, recipe=FP8, dp=4, ep=4)) == pytest.approx(
        7 / 8 * expected, rel=1e-9
    )


def test_dualpipe_hides_expert_traffic() -> None:
    plain, dual = (
        _part("expert_parallel", setup(MOE, pp=2, dp=4, ep=4, schedule=s)) for s in (0, 2)
    )
    assert dual == pytest.approx(0.1 * plain, rel=1e-9)


def test_gradients_are_reduced_once_and_parameters_gathered_once() -> None:
    """dp 2 in one domain, no overlap: half of P x (4 + 2) bytes at 400 GB/s, whatever the
    micro-batches."""
    expected = DENSE.params * (4 + 2) / 2 / 400e9
    for count in (1, 8):
        assert _part("data_parallel", setup(dp=2, micro_batches=count)) == pytest.approx(
            expected, rel=1e-9
        )
    # without a sharded optimizer the gradients are all-reduced
    assert _part("data_parallel", setup(dp=2, zero=0)) == pytest.approx(
        DENSE.params * 8 / 2 / 400e9, rel=1e-9
    )


def test_sharded_gradients_are_reduced_for_every_micro_batch() -> None:
    for count in (1, 8):
        expected = DENSE.params * (4 * count + 2) / 2 / 400e9
        assert _part("data_parallel", setup(dp=2, zero=2, micro_batches=count)) == pytest.approx(
            expected, rel=1e-9
        )


def test_sharded_parameters_travel_for_every_micro_batch() -> None:
    """FSDP: 2 bytes forward, 2 + 4 backward, m times; and the first of 8 layers again, which
    nothing can hide."""
    for count in (1, 8):
        expected = DENSE.params / 2 / 400e9 * (8 * count + 6 / 8)
        assert _part("data_parallel", setup(dp=2, zero=3, micro_batches=count)) == pytest.approx(
            expected, rel=1e-9
        )


def test_hybrid_sharding_keeps_parameters_inside_the_domain() -> None:
    """16 ranks in domains of 8 with NICs of 25 GB/s: parameters at 400 GB/s for 8 x 25, 7/8 for
    15/16 of them.

    Once a step each eighth of the gradients goes to the other copy and back: 2 x 1/2 x P x 4 / 8
    bytes at 25 GB/s.
    """
    thin = replace(DEVICE, scaleout_gb_per_s=25.0)
    whole, hybrid = (
        _part("data_parallel", setup(device=thin, dp=16, zero=3, shard=n)) for n in (16, 8)
    )
    assert whole == pytest.approx(DENSE.params * 15 / 16 * (8 + 6 / 8) / 200e9, rel=1e-9)
    expected = DENSE.params * (7 / 8 * (8 + 6 / 8) / 400e9 + 4 / 8 / 25e9)
    assert hybrid == pytest.approx(expected, rel=1e-9)


def test_experts_copied_on_tensor_ranks_are_reduced_between_them() -> None:
    """tp 8, ep 1, etp 1: each rank routes its own eighth of the tokens through its own copy of all
    experts.

    Their gradients differ, so 7/8 of 6 layers x 25,165,824 x (4 + 2) bytes go around the 8 ranks
    (400 GB/s).
    """
    expected = 7 / 8 * 6 * 16 * 3 * 1024 * 512 * 6 / 400e9
    assert _part("data_parallel", setup(MOE, tp=8)) == pytest.approx(expected, rel=1e-9)


OVERLAPS = st.floats(0.01, 1.0)


@given(st.sampled_from([0, 1, 2, 3]), st.sampled_from([2, 8, 64]), OVERLAPS, OVERLAPS)
@QUICK
def test_more_overlap_never_shows_more_data_parallel(
    zero: int, dp: int, a: float, b: float
) -> None:
    """And never more than no overlap does, but for the first of the 8 layers, which nothing can
    hide."""
    more, less, none = (
        _part(
            "data_parallel",
            setup(stack=replace(STACK, dp_overlap_frac=x), zero=zero, dp=dp, micro_batches=4),
        )
        for x in (max(a, b), min(a, b), 0.0)
    )
    assert more <= less <= none * (1 + 1 / 8)
    assert more > 0


def test_enough_work_hides_all_but_the_first_layer() -> None:
    # 3 ms of gather and scatter against 12.4 ms of work, all of which covers
    covered = replace(STACK, dp_overlap_frac=1.0)
    expected = DENSE.params * (4 + 2) / 2 / 400e9 / 8
    assert _part("data_parallel", setup(stack=covered, dp=2)) == pytest.approx(expected, rel=1e-9)


def test_switches_that_add_halve_an_all_reduce_over_the_rails() -> None:
    """16 ranks leave the domain of 8: 15/16 x P x 4 bytes at 400 GB/s, once for twice; inside
    nothing changes."""
    sharp = replace(DEVICE, in_network=1.0)
    expected = DENSE.params * 4 * 15 / 16 / 400e9
    assert _part("data_parallel", setup(device=sharp, dp=16, zero=0)) == pytest.approx(
        expected, rel=1e-9
    )
    assert _part("data_parallel", setup(dp=16, zero=0)) == pytest.approx(2 * expected, rel=1e-9)
    inside = (_part("data_parallel", setup(device=d, dp=8, zero=0)) for d in (DEVICE, sharp))
    assert len(set(inside)) == 1

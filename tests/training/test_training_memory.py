"""Memory by hand, tensor by tensor; conservation over the ranks; measured peaks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dcplan.catalog.loader import load
from dcplan.catalog.schema import Model
from dcplan.llm.config import from_config
from dcplan.llm.operations import Setup
from dcplan.llm.tables import SCHEDULES
from dcplan.training.memory import Memory, kept_bytes, logits_bytes, memory
from tests.training.tiny import BF16, COEFFICIENTS, DENSE, FP8, MOE, STACK, setup

QUICK = settings(max_examples=60, deadline=None)
POWERS = st.sampled_from([1, 2, 4, 8])
PARAMS = 8 * (12 * 1024**2 + 2 * 1024) + 2 * 1024**2 + 1024
"""102,777,856: 8 layers with 2 norms, two embeddings of 1,024 x 1,024, the last norm."""
LAYER_BYTES = 1024 * 32_800
"""1,024 tokens; of each, attention: norm input and output 4,096, queries, keys and values 6,144,
output 2,048 and its log-sum-exp 4 x 8 heads; MLP: norm 4,096, hidden values before and after the
activation 2 x 2 x 4,096."""
WHOLE = 8 * LAYER_BYTES
EXPERTS = 16 * 3 * 1024 * 512
"""Routed weights of one layer of ``MOE``: 25,165,824."""


def _total(found: Setup) -> float:
    return float(memory(found).total[0])


def _states(found: Memory) -> list[float]:
    return [float(x[0]) for x in (found.weights, found.gradients, found.optimizer)]


def test_small_dense_model_by_hand() -> None:
    """One rank, BF16: 2 + 4 + 12 bytes a parameter; logits 2 + 4 bytes each; a 4,096 x 1,024
    gradient of 4 bytes."""
    found = memory(setup())
    assert DENSE.params == PARAMS
    assert _states(found) == [2 * PARAMS, 4 * PARAMS, 12 * PARAMS]
    assert found.activations[0] == WHOLE
    assert found.logits[0] == 1024 * 1024 * 6
    assert found.buffers[0] == 4096 * 1024 * 4 + COEFFICIENTS.reserve_bytes
    assert (
        found.total[0]
        == 18 * PARAMS + WHOLE + 1024 * 1024 * 6 + 4096 * 1024 * 4 + COEFFICIENTS.reserve_bytes
    )


def test_activations_are_korthikanti_s() -> None:
    """arXiv 2205.05198, equation 2: s b h (34 + 5 a s / h) bytes a layer, two dropout masks of s b
    h among them.

    No masks are kept here; 4 bytes of log-sum-exp a head are.
    """
    unfused = replace(STACK, attention="unfused")
    s, h, a = 1024, 1024, 8
    found = kept_bytes(setup(stack=unfused)).whole[0]
    assert found == pytest.approx(8 * (s * h * (34 - 2 + 5 * a * s / h) + 4 * a * s), rel=1e-12)


@pytest.mark.parametrize(
    ("zero", "weights", "gradients", "optimizer"),
    # Rajbhandari et al., arXiv 1910.02054, figure 1: what each stage shards, here over 4 ranks
    [(0, 2, 4, 12), (1, 2, 4, 3), (2, 2, 1, 3), (3, 0.5, 1, 3)],
)
def test_zero_stages_by_hand(zero: int, weights: float, gradients: float, optimizer: float) -> None:
    found = memory(setup(dp=4, zero=zero))
    assert _states(found) == pytest.approx(
        [weights * PARAMS, gradients * PARAMS, optimizer * PARAMS], rel=1e-12
    )


def test_sharded_parameters_are_gathered_two_layers_at_a_time() -> None:
    # and the embeddings: 2 bytes x (2 x (12 x 1,024^2 + 2,048 + 128 of the last norm) + 2 x
    # 1,024^2)
    gathered = 2 * (2 * (12 * 1024**2 + 2048 + 128) + 2 * 1024**2)
    assert memory(setup(dp=4, zero=3)).buffers[0] - memory(setup(dp=4)).buffers[0] == pytest.approx(
        gathered
    )


def test_hybrid_sharding_keeps_one_copy_a_group() -> None:
    found = memory(setup(dp=16, zero=3, shard=4))
    assert _states(found) == pytest.approx([PARAMS / 2, PARAMS, 3 * PARAMS], rel=1e-12)


@pytest.mark.parametrize(("micro_batches", "in_flight"), [(1, 1), (2, 2), (4, 4), (16, 4)])
def test_first_stage_keeps_as_many_micro_batches_as_stages_follow(
    micro_batches: int, in_flight: int
) -> None:
    found = memory(setup(pp=4, micro_batches=micro_batches))
    assert found.activations[0] == pytest.approx(in_flight * WHOLE / 4, rel=1e-12)
    assert found.weights[0] == pytest.approx(
        2 * (PARAMS - 2 * 1024**2) / 4 + 2 * 1024**2, rel=1e-12
    )  # one table
    assert found.logits[0] == (
        1024 * 1024 * 6 if micro_batches == 1 else 0.0
    )  # then the last stage is the fuller


@pytest.mark.parametrize(("vpp", "in_flight"), [(1, 4.0), (2, 5.5), (4, 4.75)])
def test_interleaving_keeps_more(vpp: int, in_flight: float) -> None:
    # Korthikanti et al., section 4.2.3: p (1 + (p-1)/(p v)): 4 x (1 + 3/8) and 4 x (1 + 3/16)
    found = memory(setup(pp=4, vpp=vpp, micro_batches=16))
    assert found.activations[0] == pytest.approx(in_flight * WHOLE / 4, rel=1e-12)


def test_no_more_micro_batches_are_in_flight_than_there_are() -> None:
    assert memory(setup(pp=4, vpp=2, micro_batches=5)).activations[0] == pytest.approx(
        5 * WHOLE / 4, rel=1e-12
    )


def test_a_large_vocabulary_makes_the_last_stage_the_fullest() -> None:
    """131,072 words: logits of 1,024 x 131,072 x 6 = 805 MB, against 3 micro-batches more on the
    first stage."""
    found = memory(setup(replace(DENSE, vocab=131_072), pp=4, micro_batches=16))
    assert found.logits[0] == 1024 * 131_072 * 6
    assert found.activations[0] == pytest.approx(WHOLE / 4, rel=1e-12)


def test_extra_prediction_layers_have_logits_of_their_own() -> None:
    assert logits_bytes(setup(replace(DENSE, mtp_layers=1)))[0] == 2 * logits_bytes(setup())[0]


def test_full_recompute_keeps_inputs_and_one_layer() -> None:
    # 8 inputs of 1,024 x 1,024 x 2 bytes, and what one layer needs while it is computed again
    assert memory(setup(recompute=2)).activations[0] == pytest.approx(
        8 * 1024 * 1024 * 2 + LAYER_BYTES
    )


@pytest.mark.parametrize(
    ("vocab", "logits", "repeated"),
    # 1,024 tokens x 6 bytes: 201 MB of logits exceed the 33.6 MB of a layer, 6.3 MB do not
    [(32_768, 1024 * 32_768 * 6, 0), (1024, 0, LAYER_BYTES)],
)
def test_full_recompute_repeats_a_layer_after_the_logits_are_gone(
    vocab: int, logits: int, repeated: int
) -> None:
    found = memory(setup(replace(DENSE, vocab=vocab), recompute=2))
    assert found.logits[0] == logits
    assert found.activations[0] == 8 * 1024 * 1024 * 2 + repeated


AUTOCAST = replace(STACK, weight_cast_bytes=6.0, zero=3)
"""Weights at rest in 32 bit, cast for each use."""


def test_weights_that_are_their_own_master() -> None:
    """4 + 4 + 8 bytes a parameter; the casts of 8 x 12 x 1,024^2 + 16 x 1,024 + 1,024 weights of
    the layers live until their backward pass; the output layer has a cast and a gradient at 16 bit."""
    found = memory(setup(replace(DENSE, vocab=8192), stack=AUTOCAST, zero=3))
    params = PARAMS + 2 * 7168 * 1024
    assert _states(found) == [4 * params, 4 * params, 8 * params]
    assert found.activations[0] == WHOLE + 2 * (params - 2 * 8192 * 1024)
    assert found.buffers[0] == 8192 * 1024 * 4 + COEFFICIENTS.reserve_bytes


def test_gathered_weights_leave_no_casts() -> None:
    # on 4 ranks they are cast before the gather and freed after use
    assert memory(setup(stack=AUTOCAST, zero=3, dp=4)).activations[0] == WHOLE
    assert memory(setup(stack=AUTOCAST, zero=1, dp=4)).activations[0] > WHOLE


def test_full_recompute_has_the_casts_of_one_layer() -> None:
    # one of 8 layers with its share of the last norm: 12 x 1,024^2 + 2 x 1,024 + 128 weights
    found = memory(setup(stack=AUTOCAST, recompute=2))
    casts = 2 * (12 * 1024**2 + 2048 + 128)
    assert found.activations[0] == 8 * 1024 * 1024 * 2 + LAYER_BYTES + casts


def test_a_loss_on_16_bit_logits_keeps_2_bytes() -> None:
    assert memory(setup(stack=replace(STACK, half_logits=True))).logits[0] == 1024 * 1024 * 2


def test_expanded_keys_and_values_are_those_of_all_heads() -> None:
    # 2 of 8 heads have keys and values of 128 values: 2 x 6 x 128 more a token, 2 bytes each
    grouped = replace(DENSE, kv_heads=2)
    plain = kept_bytes(setup(grouped)).whole[0]
    expanded = kept_bytes(setup(grouped, stack=replace(STACK, expands_kv=True))).whole[0]
    assert expanded - plain == 8 * 1024 * 2 * 6 * 128 * 2


def test_casts_that_are_repeated_are_not_kept() -> None:
    """FP8: of a token 32,800 bytes at 16 bit, less two norm outputs of 2,048 and the activation's
    8,192; no cast of a weight either."""
    found = memory(setup(recipe=FP8, stack=replace(AUTOCAST, recomputes_casts=True)))
    assert found.activations[0] == 8 * 1024 * (32_800 - 2 * 2048 - 8192)
    assert found.weights[0] == 4 * PARAMS


def test_selective_recompute_drops_norm_and_activation_outputs() -> None:
    # 2 x 1,024 norm outputs and 4,096 after the activation, 2 bytes each
    assert memory(setup(recompute=1)).activations[0] == pytest.approx(
        WHOLE - 8 * 1024 * (2 * 1024 + 4096) * 2
    )


@pytest.mark.parametrize("mode", [0, 1])
def test_offload_moves_its_share_to_the_host(mode: int) -> None:
    kept, half, none = (
        memory(setup(recompute=mode, offload=x)).activations[0] for x in (0.0, 0.5, 1.0)
    )
    assert half == pytest.approx(kept / 2, rel=1e-12)
    assert none == 0.0


def test_frozen_base_model_has_no_gradients_and_no_optimizer() -> None:
    assert _states(memory(setup(trainable=0))) == [2 * PARAMS, 0.0, 0.0]


def test_dualpipe_keeps_two_copies_of_the_states() -> None:
    plain, dual = (
        memory(setup(pp=4, micro_batches=16, schedule=SCHEDULES.index(x)))
        for x in ("1f1b", "dualpipe")
    )
    assert _states(dual) == pytest.approx([2 * x for x in _states(plain)], rel=1e-12)


def test_low_precision_keeps_a_second_half_of_what_is_one_byte() -> None:
    """FP8: norm outputs, and what follows the activation, in 1 byte; attention's output in 2 and 1.

    Of a token 32,800 - 2 x 1,024 - 4,096 + 1,024; weights as the stack keeps them.
    """
    found = memory(setup(recipe=FP8, stack=replace(STACK, low_weight_bytes=3.0)))
    assert found.activations[0] == 8 * 1024 * (32_800 - 2 * 1024 - 4096 + 1024)
    assert found.weights[0] == 3 * PARAMS
    assert (
        memory(setup(recipe=BF16, stack=replace(STACK, low_weight_bytes=3.0))).weights[0]
        == 2 * PARAMS
    )


def test_norms_are_split_only_by_sequence_parallel() -> None:
    """tp 8: attention, MLP and logits in eighths; without sequence parallel two norms of 4,096
    bytes stay whole."""
    alone = replace(STACK, sequence_parallel=False)
    assert memory(setup(tp=8)).activations[0] == WHOLE / 8
    assert memory(setup(tp=8, stack=alone)).activations[0] == 8 * 1024 * (
        (32_800 - 8192) / 8 + 8192
    )


def test_two_context_ranks_share_the_tokens() -> None:
    one, two = memory(setup(dp=2)), memory(setup(cp=2))
    assert _states(one) == _states(two)
    assert two.activations[0] == WHOLE / 2
    assert two.logits[0] == one.logits[0] / 2


def test_mixture_of_experts_by_hand() -> None:
    """8 ranks, ep 4: a quarter of 6 x 25,165,824 routed weights; their optimizer on the 2 ranks
    that share them.

    Activations of a token in an expert layer: norm 4,096, 2 experts of 1,024 x 4 at input and
    output and 512 x (2 x 2 + 2) inside, a shared one of 512 x 6; around it attention, 12,320.
    """
    found = memory(setup(MOE, dp=8, ep=4))
    routed, rest = 6 * EXPERTS, MOE.params - 6 * EXPERTS
    assert found.weights[0] == pytest.approx(2 * (rest + routed / 4), rel=1e-12)
    assert found.optimizer[0] == pytest.approx(12 * (rest / 8 + routed / 4 / 2), rel=1e-12)
    sparse = 4096 + 2 * (1024 * 4 + 512 * 6) + 512 * 6
    dense = 4096 + 4096 * 6  # gated here
    assert found.activations[0] == pytest.approx(
        1024 * (8 * 12_320 + 6 * sparse + 2 * dense), rel=1e-12
    )


@pytest.mark.parametrize(("pp", "first", "last"), [(1, 6, 6), (2, 2, 4), (4, 0, 2)])
def test_leading_dense_layers_leave_the_experts_to_later_stages(
    pp: int, first: int, last: int
) -> None:
    """Two dense layers stand first: of 2 stages of 4 layers the first holds 2 expert layers and the
    last 4.

    One sequence of one token: states decide which stage is fuller.
    """
    found = memory(setup(MOE, pp=pp, micro_batches=1, seq_len=1))
    rest = (MOE.params - 6 * EXPERTS - 2 * 1024**2) / pp + 1024**2 * (2 if pp == 1 else 1)
    assert found.weights[0] == pytest.approx(2 * (rest + max(first, last) * EXPERTS), rel=1e-12)


def test_where_the_first_stage_is_fuller_it_holds_its_own_experts() -> None:
    # 64 K tokens a micro-batch, 2 in flight: the first stage's second one outweighs 2 layers of
    # experts
    found = memory(setup(MOE, pp=2, micro_batches=2, seq_len=65_536))
    rest = (MOE.params - 6 * EXPERTS - 2 * 1024**2) / 2 + 1024**2
    assert found.logits[0] == 0.0
    assert found.weights[0] == pytest.approx(2 * (rest + 2 * EXPERTS), rel=1e-12)


@given(POWERS, POWERS, POWERS, POWERS, st.sampled_from([1, 2, 4, 8, 16]))
@QUICK
def test_sharded_ranks_together_hold_every_parameter_once(
    tp: int, cp: int, dp: int, etp: int, ep: int
) -> None:
    """ZeRO 3 without pipeline: 18 bytes of each parameter on all ranks together.

    Experts are sharded over the ranks that share them, as long as these are data-parallel ones.
    """
    etp = min(etp, tp)
    if dp * cp * tp % (ep * etp) or ep * etp < tp:
        etp, ep = tp, 1
    states = sum(_states(memory(setup(MOE, tp=tp, cp=cp, dp=dp, etp=etp, ep=ep, zero=3))))
    assert states * tp * cp * dp == pytest.approx(18 * MOE.params, rel=1e-9)


@given(POWERS, POWERS, POWERS, POWERS, st.integers(0, 3), st.integers(0, 2), st.booleans())
@QUICK
def test_ranks_never_hold_less_than_the_model(
    tp: int, pp: int, cp: int, dp: int, zero: int, mode: int, moe: bool
) -> None:
    shape = MOE if moe else DENSE
    states = sum(
        _states(memory(setup(shape, tp=tp, pp=pp, cp=cp, dp=dp, zero=zero, recompute=mode)))
    )
    assert states * tp * pp * cp * dp >= 18 * shape.params * (1 - 1e-9)


@given(
    POWERS,
    POWERS,
    POWERS,
    POWERS,
    st.sampled_from(["tp", "pp", "cp", "dp"]),
    st.integers(0, 3),
    st.integers(0, 2),
)
@QUICK
def test_splitting_further_never_needs_more(
    tp: int, pp: int, cp: int, dp: int, axis: str, zero: int, mode: int
) -> None:
    # behind a pipeline ZeRO-3 keeps the gathered parameters of a stage: there a first cut may need
    # more
    assume(not (zero == 3 and axis == "pp"))
    layout = {"tp": tp, "pp": pp, "cp": cp, "dp": dp}
    common = {"zero": zero, "recompute": mode, "micro_batches": 32}
    more = {**layout, axis: layout[axis] * 2}
    assert _total(setup(DENSE, **more, **common)) <= _total(setup(DENSE, **layout, **common)) * (
        1 + 1e-12
    )


@given(st.integers(1, 65_536), POWERS, st.integers(0, 2))
@QUICK
def test_memory_is_linear_in_the_sequence(seq_len: int, cp: int, mode: int) -> None:
    zero, one, two = (_total(setup(seq_len=n * seq_len, cp=cp, recompute=mode)) for n in (0, 1, 2))
    assert two - one == pytest.approx(one - zero, rel=1e-6)
    assert one > zero


@given(
    st.sampled_from(["llama-3.1-70b", "deepseek-v3", "nemotron-h-56b", "gpt-oss-120b"]),
    POWERS,
    POWERS,
)
@QUICK
def test_lighter_modes_never_keep_more(name: str, tp: int, pp: int) -> None:
    shape = from_config(load().get("models", name, Model).config)
    for stack in (STACK, replace(STACK, attention="unfused", sequence_parallel=False)):
        found = setup(
            shape, stack=stack, tp=tp, pp=pp, micro_batches=16, recompute=[0, 1, 2], seq_len=4096
        )
        kept = kept_bytes(found)
        assert (kept.inputs <= kept.selected).all()
        assert (kept.selected < kept.whole).all()

"""Post-training from catalog values: options of every count, their layouts and properties."""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import numpy as np
import pytest

from dcplan.catalog.loader import load
from dcplan.catalog.schema import Model
from dcplan.inputs.log import InputLog
from dcplan.inputs.post_training import (
    ASYNCHRONOUS,
    COLOCATED,
    DISAGGREGATED,
    Pools,
    every_division,
    pool_counts,
    pools_of,
    post_training_options,
)
from dcplan.inputs.serving.machines import Machine, machine_of
from dcplan.inputs.training.rollouts import Place, engines_of, samples_of, sync_s
from dcplan.inputs.training.speed import hardware
from dcplan.inputs.training.trainer import Policy, packed_len
from dcplan.llm.config import from_config
from dcplan.scenario.schema.post_training import PostTraining
from dcplan.training.shapes import trained_shape

USUAL: dict[str, Any] = {
    "prompts": 64,
    "samples": 16,
    "isl": 200,
    "osl": 1500,
    "longest_osl": 8000,
    "steps": 100,
}
COUNTS = (8, 16, 24, 32, 40, 48, 64)


def work_of(**changes: Any) -> PostTraining:
    return PostTraining.model_validate(USUAL | changes)


def place() -> Place:
    machine = machine_of(load(), "dgx-h100")
    assert isinstance(machine, Machine)
    return Place(machine.accelerator, machine.size, machine.nic_gb_per_s, machine.domain)


@cache
def policy(model: str = "llama-3.1-8b") -> Policy:
    row = load().get("models", model, Model)
    return Policy(trained_shape(row.config), from_config(row.config), row)


def pools(**changes: Any) -> Pools:
    log, where = InputLog(load()), place()
    spec = hardware("h100-sxm", "bf16", where.nic_gb_per_s or 0.0, log, moe=False)
    assert not isinstance(spec, str)
    found = pools_of(work_of(**changes), policy(), where, spec, COUNTS, log)
    assert not isinstance(found, str)
    return found


def test_a_larger_count_is_never_slower() -> None:
    times = [x.step_time_s for x in post_training_options(pools(staleness=2)) if x is not None]
    assert len(times) == len(COUNTS)
    assert all(b <= a for a, b in itertools.pairwise(times))


def test_the_option_of_a_count_is_the_fastest_of_all_divisions_up_to_it() -> None:
    found = pools(staleness=1)
    best = post_training_options(found)
    for i in range(len(COUNTS)):
        every = [x.step_time_s for n in COUNTS[: i + 1] for x in every_division(found, n)]
        chosen = best[i]
        assert chosen is not None
        assert chosen.step_time_s == pytest.approx(min(every))


def test_pools_are_whole_replicas_within_the_count() -> None:
    found = pools(staleness=1)
    for count in COUNTS:
        for x in every_division(found, count):
            assert x.used_accelerators <= count
            number, _, layout = x.rollout_layout.partition(" x ")
            size = int(np.prod([int(part[2:]) for part in layout.split() if part[:2] != "ep"]))
            assert int(number) * size == x.rollout_accelerators
            if x.mode != COLOCATED:
                assert x.rollout_accelerators + x.training_accelerators == x.used_accelerators


def test_overlapped_pools_are_never_slower_than_pools_in_turn() -> None:
    turns = pools(mode=DISAGGREGATED)
    for staleness in (1, 4):
        overlapped = pools(mode=ASYNCHRONOUS, staleness=staleness)
        for count in COUNTS[1:]:
            slow, fast = (
                {(x.training_accelerators): x.step_time_s for x in every_division(p, count)}
                for p in (turns, overlapped)
            )
            assert all(fast[k] <= slow[k] for k in slow.keys() & fast.keys())


def test_a_given_division_is_taken() -> None:
    for x in post_training_options(pools(rollout_accelerators=8))[1:]:
        assert x is not None
        assert (x.mode, x.rollout_accelerators) == (DISAGGREGATED, 8)


def test_ppo_trains_longer_than_grpo() -> None:
    """(2 + 4/3) over (1 + 2/3) is 2."""
    one, two = pools(algorithm="grpo").training, pools(algorithm="ppo").training
    assert two.time_s == pytest.approx(2.0 * one.time_s)


def test_a_second_epoch_adds_training_but_no_log_probabilities() -> None:
    """(2 x 1 + 2/3) over (1 + 2/3) is 1.6."""
    one, two = pools(epochs=1).training, pools(epochs=2).training
    assert two.time_s == pytest.approx(1.6 * one.time_s)
    assert two.forward_s == pytest.approx(one.forward_s)


def test_the_transfer_of_weights_by_hand() -> None:
    """8.03e9 parameters at 2 byte, 0.3 of 8 x 50 GB/s: 16.06 / 120 = 0.134 s; inside a host NVLink
    has 450 GB/s one way: 16.06 / (0.3 x 8 x 450) = 0.0149 s."""
    log = InputLog(load())
    engines = engines_of(work_of(), policy().served, policy().row, place(), log)
    assert not isinstance(engines, str)
    inside, outside = sync_s(engines, place(), np.array([8.0, 16.0]), log).tolist()
    assert outside == pytest.approx(0.134, rel=0.01)
    assert inside == pytest.approx(0.0149, rel=0.01)


def test_published_transfers_of_weights_are_met() -> None:
    """NeMo RL, pull request 2808, H100 assumed: Qwen3 235B 4.7 s, DeepSeek-V3 8.8 s; 30 %."""
    for model, seconds in (("qwen3-30b-a3b", 0.52), ("qwen3-235b-a22b", 4.7), ("deepseek-v3", 8.8)):
        log = InputLog(load())
        engines = engines_of(work_of(), policy(model).served, policy(model).row, place(), log)
        assert not isinstance(engines, str)
        assert sync_s(engines, place(), np.array([256.0]), log)[0] == pytest.approx(
            seconds, rel=0.3
        )


def test_packed_sequences_have_the_attention_of_their_samples() -> None:
    """Equal samples of 1700 tokens are packed sequences of 13 x 128 = 1664 tokens."""
    log = InputLog(load())
    assert packed_len(samples_of(work_of(length_cv=0.0), log)) == 1664
    assert packed_len(samples_of(work_of(length_cv=1.0), log)) > 1664


def test_samples_of_a_prompt_share_its_cache() -> None:
    """Of 16 samples, one computes the prompt of 200 tokens: 187.5 of each are cached."""
    assert samples_of(work_of(), InputLog(load())).cached_tokens == pytest.approx(187.5)


def test_counts_to_try_contain_what_they_leave() -> None:
    counts = pool_counts(8, 4096)
    assert len(counts) < 400
    assert all(4096 - n in counts for n in counts if n < 4096)


@pytest.mark.parametrize(
    "changes",
    [
        {"longest_osl": 1000},
        {"mode": "asynchronous"},
        {"mode": "colocated", "rollout_accelerators": 8},
        {"updates": 2000},
        {"osl": 0.5},
    ],
)
def test_contradictions_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"osl|staleness|pools|updates|at least 1"):
        work_of(**changes)

"""Rollouts: lengths of samples, the batch of a step from start to end, and a stream."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from dcplan.catalog.loader import load
from dcplan.catalog.schema import Accelerator, Engine, Model, WeightFormat
from dcplan.inputs.log import InputLog
from dcplan.inputs.serving.engines import release_of
from dcplan.inputs.serving.setups import Checkpoint, memory_terms, served_of, service
from dcplan.llm.config import from_config
from dcplan.serving.forward import Served
from dcplan.serving.memory import MemoryTerms
from dcplan.serving.rollout import Samples, batch_s, output_lengths, slots, stream_s
from dcplan.serving.search import Layout, tall_layout
from dcplan.serving.step import decode_s, prompt_s
from dcplan.serving.tables import picked


def served() -> tuple[Served, MemoryTerms, float]:
    catalog = load()
    row = catalog.get("models", "llama-3.1-8b", Model)
    precision = catalog.get("formats", "bf16", WeightFormat)
    engine = catalog.get("engines", "vllm", Engine)
    one = service(
        InputLog(catalog),
        Checkpoint(from_config(row.config), row, precision, "half"),
        catalog.get("accelerators", "h100-sxm", Accelerator),
        engine,
        release_of(engine),
    )
    assert not isinstance(one, str)
    table = served_of([one], [Layout(1), Layout(2)])
    tall = replace(table, layout=tall_layout(table.layout))
    return tall, memory_terms([one]), one.most_running


SERVED, MEMORY, RUNNING = served()
BUDGET = np.array(8192.0)


def samples(cv: float = 0.7, number: float = 2048.0) -> Samples:
    return Samples(number, 100.0, 0.0, output_lengths(1000.0, cv, 4000.0, number))


@pytest.mark.parametrize("cv", [0.0, 0.3, 0.7, 1.5])
@pytest.mark.parametrize("mean", [500.0, 1500.0, 3000.0])
def test_the_mean_is_kept_under_the_limit(mean: float, cv: float) -> None:
    found = output_lengths(mean, cv, 4000.0, 2048.0)
    assert found.mean == pytest.approx(mean, rel=1e-3)
    assert found.longest <= 4000.0
    assert found.weighted >= mean * (1.0 - 1e-6)


def test_the_longest_of_many_is_the_quantile_of_a_log_normal() -> None:
    """Mean 1000, deviation 700: s = sqrt(ln 1.49) = 0.6315, m = ln 1000 - s^2/2 = 6.7083.

    The quantile 1 - 1/2048 is at z = 3.297: exp(6.7083 + 0.6315 x 3.297) = 6,570 tokens.
    """
    assert output_lengths(1000.0, 0.7, np.inf, 2048.0).longest == pytest.approx(6570, rel=0.01)


def test_equal_samples_take_prompts_and_tokens_of_a_full_batch() -> None:
    """64 samples of 1000 tokens on one replica: prompts one after the other, then 1000 steps.

    The time of a step is nearly linear in the context, so its mean is that of the middle.
    """
    equal, n = samples(cv=0.0), np.array([[64.0]])
    most = slots(SERVED, MEMORY, equal, RUNNING)
    found = batch_s(SERVED, equal, n, most, BUDGET)
    steps = 1000.0 * decode_s(SERVED, n, np.array(600.0))
    # 64 prompts of 100 tokens fit in one engine step
    prompts = prompt_s(SERVED, n, np.array(100.0))
    assert found == pytest.approx(steps + prompts, rel=0.02)


def test_the_batch_falls_as_samples_end() -> None:
    """64 samples of a log-normal, token by token in a loop: 64 run at the start, one at the end."""
    one, n = samples(cv=0.7), 64.0
    most = slots(SERVED, MEMORY, one, RUNNING)
    found = batch_s(SERVED, one, np.array([[n]]), most, BUDGET)[0, 0]
    row = replace(SERVED, layout=picked(SERVED.layout, np.array([0])))
    steps = 0.0
    for token in range(0, int(one.lengths.longest), 20):
        alive = n * float((one.lengths.tokens > token).mean())
        steps += 20.0 * float(
            decode_s(row, np.array([[max(alive, 1.0)]]), np.array(100.0 + token))[0, 0]
        )
    prompts = float(prompt_s(row, np.array([[n]]), np.array(100.0))[0, 0])
    assert found == pytest.approx(steps + prompts, rel=0.02)


def test_a_longer_tail_of_the_same_mean_is_slower() -> None:
    n = np.array([[128.0]])
    times = []
    for cv in (0.0, 0.4, 0.8):
        one = samples(cv)
        most = slots(SERVED, MEMORY, one, RUNNING)
        times.append(batch_s(SERVED, one, n, most, BUDGET)[:, 0])
    assert (times[0] < times[1]).all()
    assert (times[1] < times[2]).all()


def test_fewer_samples_of_a_replica_are_never_slower() -> None:
    one = samples()
    most = slots(SERVED, MEMORY, one, RUNNING)
    n = np.array([[8.0, 32.0, 128.0, 512.0, 2048.0, 8192.0]])
    assert (np.diff(batch_s(SERVED, one, n, most, BUDGET), axis=1) > 0.0).all()
    assert (np.diff(stream_s(SERVED, one, n, most, BUDGET, 4.0), axis=1) >= 0.0).all()


def test_more_staleness_is_never_slower_and_ends_at_the_saturated_rate() -> None:
    """With unlimited staleness, the pool is as fast as its slots: n L TPOT(m) / m."""
    one, n = samples(), np.array([[512.0]])
    most = slots(SERVED, MEMORY, one, RUNNING)
    times = [stream_s(SERVED, one, n, most, BUDGET, eta)[:, 0] for eta in (1, 2, 4, 8, 1000)]
    assert all((b <= a * (1.0 + 1e-9)).all() for a, b in itertools.pairwise(times))
    full = np.minimum(most, 1001 * 512.0)[:, 0]
    bare = 512.0 * 1000.0 * decode_s(SERVED, most, np.array(one.need.context))[:, 0] / full
    assert (times[-1] >= bare).all()
    assert times[-1] == pytest.approx(bare, rel=0.25)


def test_a_model_without_room_takes_for_ever() -> None:
    one = samples()
    none = np.zeros((2, 1))
    assert np.isinf(batch_s(SERVED, one, np.array([[8.0]]), none, BUDGET)).all()
    assert np.isinf(stream_s(SERVED, one, np.array([[8.0]]), none, BUDGET, 2.0)).all()

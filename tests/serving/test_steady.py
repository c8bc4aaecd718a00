"""Steady states of a replica: conservation laws, limits by hand, and what never falls."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dcplan.serving.forward import Served
from dcplan.serving.steady import (
    FULLEST,
    Load,
    Pools,
    Steady,
    closed_loop,
    disaggregated,
    prompts_s,
    saturated,
    static_batch,
)
from dcplan.serving.step import decode_s, prompt_s
from tests.serving.small import EXPERTS, MODEL, TERMS, changed, layout, one, served

QUICK = settings(max_examples=60, deadline=None)
REAL = changed(
    TERMS,
    step_us=500,
    layer_us=100,
    request_us=5,
    ingress_ms=20,
    handover_ms=50,
    separate_prefill_frac=0.7,
    burst_frac=0.1,
    pool_prefill_factor=0.8,
)
SIZES = st.integers(1, 300)
LENGTHS = st.integers(2, 400)


def load(requests: float, inputs: float = 50, outputs: float = 20, most: float = 1e9) -> Load:
    return Load(one(requests), one(inputs), one(outputs), one(0), one(most), one(200))


def life_s(found: Steady, outputs: float) -> float:
    """Mean time of a request in the system: first token, then outputs - 1 more and its last step."""
    return float((found.ttft_s + outputs * found.tpot_s)[0])


@QUICK
@given(SIZES, LENGTHS, LENGTHS, st.integers(1, 100), st.sampled_from([MODEL, EXPERTS]))
def test_littles_law_holds_in_a_closed_loop(
    requests: int, inputs: int, outputs: int, most: int, model: object
) -> None:
    # requests in the system = rate x time in the system; no request is lost or made
    found = closed_loop(served(model, terms=REAL), load(requests, inputs, outputs, most))  # type: ignore[arg-type]
    inside = float(found.requests_per_s[0]) * life_s(found, outputs)
    assert inside == pytest.approx(requests, rel=1e-9)
    assert 1.0 - 1e-9 <= found.running[0] <= found.admitted[0] + 1e-9
    assert found.admitted[0] == min(requests, most)


def test_one_request_takes_its_prompt_and_its_tokens() -> None:
    given_served = served(terms=REAL)
    found = closed_loop(given_served, load(1, 50, 20))
    assert found.queue_s == 0.0
    assert found.tpot_s == pytest.approx(float(decode_s(given_served, one(1), one(60))[0]))
    assert found.prefill_s == pytest.approx(float(prompt_s(given_served, one(1), one(50))[0]))
    total = 0.02 + found.prefill_s + 21 * found.tpot_s
    assert 1.0 / found.requests_per_s == pytest.approx(float(total[0]))


def test_prompts_of_other_requests_delay_tokens() -> None:
    # N = 4: TPOT = step of the running requests + 3 / 20 x share x 0.7 x prompt, where the share of
    # its life that a request decodes is 20 TPOT / (20 TPOT + prompt + step)
    given_served = served(terms=REAL)
    found = closed_loop(given_served, load(4, 50, 20))
    prompt = float(prompt_s(given_served, one(1), one(50))[0])
    tpot = float(found.tpot_s[0])
    step = float(decode_s(given_served, found.running, one(60))[0])
    share = 20 * tpot / (20 * tpot + prompt + step)
    assert found.running == pytest.approx(1 + 3 * share, rel=1e-3)
    assert tpot == pytest.approx(step + 3 / 20 * share * 0.7 * prompt, rel=1e-3)


def test_requests_without_a_slot_wait_for_whole_lives() -> None:
    # 12 requests on 4 slots: each waits for two lives of the requests before it
    four = closed_loop(served(terms=REAL), load(4, most=4))
    found = closed_loop(served(terms=REAL), load(12, most=4))
    assert found.requests_per_s == pytest.approx(float(four.requests_per_s[0]))
    assert found.queue_s - four.queue_s == pytest.approx(2 * life_s(four, 20))


@QUICK
@given(st.integers(1, 40), st.integers(2, 100), st.integers(500, 50_000), SIZES, SIZES)
def test_more_memory_never_lowers_the_rate(
    requests: int, inputs: int, outputs: int, most: int, more: int
) -> None:
    # where prompts take less than half of the time; the next test has the other case
    given_served = served(terms=REAL)
    alone = closed_loop(given_served, load(1, inputs, outputs))
    prompt, decode = float(alone.prefill_s[0]), outputs * float(alone.tpot_s[0])
    assume(requests * prompt < 0.5 * (prompt + decode))
    few = closed_loop(given_served, load(requests, inputs, outputs, most))
    many = closed_loop(given_served, load(requests, inputs, outputs, most + more))
    assert many.requests_per_s[0] >= few.requests_per_s[0] * (1 - 1e-6)


def test_more_memory_never_lowers_the_rate_of_a_saturated_run() -> None:
    numbers = np.arange(1.0, 300.0)
    found = [saturated(served(terms=REAL), load(1e9, 50, 20, n)).requests_per_s[0] for n in numbers]
    assert np.all(np.diff(found) >= -1e-9)


def test_few_requests_wait_for_few_prompts() -> None:
    # 4 requests that almost only compute prompts: at most sqrt(3) prompts are ahead in the mean
    prompt = float(closed_loop(served(terms=REAL), load(1, 400, 4)).prefill_s[0])
    found = closed_loop(served(terms=changed(REAL, burst_frac=0)), load(4, 400, 4))
    assert found.queue_s / prompt <= np.sqrt(3.0)


def test_short_prompts_share_a_step() -> None:
    # 3 prompts of 50 tokens arrive in a step of 200 tokens; of 6 arriving, 4 fit
    given_served = served(terms=REAL)
    for arriving, together in ((0.2, 1), (3, 3), (6, 4)):
        time, each = prompts_s(given_served, load(1), one(arriving))
        assert time == pytest.approx(float(prompt_s(given_served, one(together), one(50))[0]))
        assert each == pytest.approx(float(time[0]) / together)


def test_the_prompt_queue_is_that_of_constant_service() -> None:
    # no burst: rho / (2 (1 - rho)) prompts, rho = (N - 1) prompt / (o TPOT + prompt)
    terms = changed(REAL, burst_frac=0)
    found = closed_loop(served(terms=terms), load(3, 50, 200))
    prompt, decode = float(found.prefill_s[0]), float(200 * found.tpot_s[0])
    rho = 2 * prompt / (decode + prompt)
    assert rho < FULLEST
    assert found.queue_s == pytest.approx(rho / (2 * (1 - rho)) * prompt, rel=1e-6)
    burst = closed_loop(served(terms=REAL), load(3, 50, 200))
    assert burst.queue_s - found.queue_s == pytest.approx(0.1 * (3 - 1) / 2 * prompt, rel=1e-6)


def pools(prefill: Served, replicas: float, decode: float, transfer_s: float = 0.0) -> Pools:
    return Pools(prefill, one(replicas), one(decode), one(transfer_s))


@pytest.mark.parametrize(("prefill_replicas", "decode_replicas"), [(1, 8), (8, 1)])
def test_the_rate_of_two_pools_is_that_of_the_slower_one(
    prefill_replicas: float, decode_replicas: float
) -> None:
    given_served = served(terms=REAL)
    wide = load(100, 50, 20, most=10)
    both = pools(given_served, prefill_replicas, decode_replicas)
    found = disaggregated(given_served, both, wide)
    # four prompts of 50 tokens share a step of 200
    prompt = 0.8 * float(prompt_s(given_served, one(4), one(50))[0]) / 4
    prefill_rate = prefill_replicas / prompt / decode_replicas
    decode_rate = 10 / (20 * float(decode_s(given_served, one(10), one(60))[0]))
    assert found.requests_per_s == pytest.approx(min(prefill_rate, decode_rate), rel=1e-3)


@QUICK
@given(SIZES, LENGTHS, LENGTHS, st.integers(1, 8), st.integers(1, 8))
def test_two_pools_neither_lose_nor_make_requests(
    requests: int, inputs: int, outputs: int, prefill: int, decode: int
) -> None:
    given_served = served(terms=REAL)
    found = disaggregated(
        given_served, pools(given_served, prefill, decode, 0.01), load(requests, inputs, outputs)
    )
    tpot = float(found.tpot_s[0])
    inside = float(found.requests_per_s[0]) * (float(found.ttft_s[0]) + (outputs - 1) * tpot)
    # the burst at the start may add a wait that is not part of the loop
    assert inside >= requests * (1 - 1e-3) - float(found.requests_per_s[0]) * tpot
    assert found.running[0] <= found.admitted[0] + 1e-9


def test_decode_of_two_pools_is_not_delayed_by_prompts() -> None:
    given_served = served(terms=REAL)
    found = disaggregated(given_served, pools(given_served, 100, 1), load(4, 50, 200))
    step = float(decode_s(given_served, found.running, one(150))[0])
    assert found.tpot_s == pytest.approx(step)
    assert found.tpot_s < closed_loop(given_served, load(4, 50, 200)).tpot_s


def test_a_saturated_run_decodes_all_that_fit() -> None:
    given_served = served(terms=REAL)
    found = saturated(given_served, load(1e9, 50, 20, most=8))
    # 8 / 20 prompts arrive in a step, so each has its own; 0.7 of its time delays the step
    tpot = decode_s(given_served, one(8), one(60)) + 0.4 * 0.7 * prompt_s(
        given_served, one(1), one(50)
    )
    assert found.running == 8
    assert found.tpot_s == pytest.approx(float(tpot[0]))
    assert found.requests_per_s == pytest.approx(8 / (20 * float(tpot[0])))
    assert found.queue_s == 0


def test_a_static_batch_runs_in_waves() -> None:
    given_served = served(terms=REAL)
    first, tpot, total = static_batch(given_served, load(8, 50, 20))
    assert first == pytest.approx(float(prompt_s(given_served, one(8), one(50))[0]))
    assert tpot == pytest.approx(float(decode_s(given_served, one(8), one(60))[0]))
    assert total == pytest.approx(float((first + 20 * tpot)[0]))
    wave = static_batch(given_served, load(4, 50, 20))
    waves = static_batch(given_served, load(12, 50, 20, most=4))
    for once, all_three, factor in zip(wave, waves, (1, 1, 3), strict=True):
        assert all_three == pytest.approx(factor * float(once[0]))


def test_copies_of_attention_share_the_prompts_of_a_batch() -> None:
    given_served = served(EXPERTS, terms=REAL, dp=4, ep=4)
    first, _, _ = static_batch(given_served, load(8, 50, 20))
    assert first == pytest.approx(float(prompt_s(given_served, one(2), one(50))[0]))


def test_rows_are_computed_apart() -> None:
    # a table of three loads gives the results of each alone
    many = Load(
        *(np.array(v) for v in ([1.0, 8, 64], [50.0] * 3, [20.0] * 3, [0.0] * 3)),
        np.array([1e9] * 3),
        np.array([200.0] * 3),
    )
    together = closed_loop(served(terms=REAL), many)
    for i, requests in enumerate((1, 8, 64)):
        alone = closed_loop(served(terms=REAL), load(requests))
        assert together.tpot_s[i] == pytest.approx(float(alone.tpot_s[0]))
    assert np.all(np.diff(together.tpot_s) > 0)
    assert layout().ranks == 1

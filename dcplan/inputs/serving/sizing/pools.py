"""Pairs of prefill and decode pools of a disaggregated service within its latency limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dcplan.inputs.serving.clocking import Copy, copy_of, decoding_copy
from dcplan.inputs.serving.sizing.rates import slots_of
from dcplan.inputs.serving.sizing.states import States
from dcplan.serving.attention import sequence_bytes
from dcplan.serving.queue.rates import most_stable_rate
from dcplan.serving.queue.tandem import Stage
from dcplan.serving.split import Split, split
from dcplan.serving.tables import picked
from dcplan.units import MILLI

BOTH, PREFILL, DECODE = "prefill and decode", "prefill", "decode"
"""Names of pools."""
SEARCH_BUSY_FRAC = 0.8
"""Utilization of the prefill replicas at which the layouts are chosen."""
SEARCH_DECODE_SHARES = (0.05, 0.2, 0.6)
"""Shares of the time that prefill and transfer leave, for the decode pool: each is tried."""
SEARCH_STEP_SHARES = (0.025, 0.1, 0.4)
"""Decode steps over the limit of the time to first token for which layouts are chosen."""
SEARCH_IDLE_FRAC = 1e-6
"""Utilization of a replica that counts as idle."""


@dataclass(frozen=True)
class Half:
    """One pool of a pair."""

    at: int
    copy: Copy
    stage: Stage
    most: float
    """Highest request rate of a replica within its limit [1/s]."""
    size: int


@dataclass(frozen=True)
class Pair:
    """A prefill pool and a decode pool whose replicas meet the limits together."""

    prefill: Half
    decode: Half
    moved_s: float
    """Time from the end of a prompt to its first decode step."""

    @property
    def accelerators_per_rps(self) -> float:
        """Accelerators of both pools for one request per second."""
        return self.prefill.size / self.prefill.most + self.decode.size / self.decode.most


def pairs_of(first: States, second: States, sizes: Sequence[int] = ()) -> list[Pair]:
    """Return the pairs of pools within the limits: prefill on one accelerator, decode on another.

    Small and large replicas are tried apart, because a load needs complete replicas and spares.

    Parameters
    ----------
    first, second : States
        Layouts of the prefill pool and of the decode pool, for the same requests and limits; the
        same object for pools on one accelerator.
    sizes : sequence of int, default all
        Largest accelerators of a replica that are tried.
    """
    found = (
        _pair(first, second, at, share)
        for at in _chosen_pairs(first, second, sizes)
        for share in SEARCH_DECODE_SHARES
    )
    return [pair for pair in found if pair is not None]


def _chosen_pairs(first: States, second: States, sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Return pairs of layouts: for several sizes of replicas, and several times of a decode step.

    A long decode step leaves less of the limit of the time to first token for prefill.
    """
    limits = first.work.limits
    # a speculative step may take as long as all tokens that it makes
    longest = {limits.tpot_s, limits.tpot_s * second.work.plan.tokens_per_step}
    steps = {min(step, share * limits.ttft_s) for share in SEARCH_STEP_SHARES for step in longest}
    steps |= longest
    found: dict[tuple[int, int], None] = {}
    own = {x.accelerators for s in (first, second) for x in s.work.layouts}
    for most in sizes or sorted(own):
        for step in sorted(steps):
            here = _chosen(first, most, step)
            there = here if second is first else _chosen(second, most, step)
            if here is not None and there is not None:
                found.setdefault((here.prefill, there.decode))
    return list(found)


def _chosen(states: States, most: int, step_s: float) -> Split | None:
    """Return the best pair of layouts with at most a number of accelerators each."""
    work = states.work
    at = np.array([i for i, x in enumerate(work.layouts) if x.accelerators <= most])
    if not at.size:
        return None
    found = split(
        replace(states.served, layout=picked(states.served.layout, at)),
        states.memory,
        work.need,
        work.service.most_running,
        work.limits.ttft_s,
        step_s,
        SEARCH_BUSY_FRAC,
    )
    if found is None:
        return None
    return replace(found, prefill=int(at[found.prefill]), decode=int(at[found.decode]))


def _pair(first: States, second: States, at: tuple[int, int], share: float) -> Pair | None:
    """Return the service of a pair of layouts, or None if it does not meet the limits.

    The decode pool gets a share of the time that an idle prefill replica and the transfer leave.
    The prefill pool gets the rest of the limit, with the decode pool at its highest rate.
    """
    limits = first.work.limits
    moved = max(_moved_s(first, at[0]), _moved_s(second, at[1]) if second is not first else 0.0)
    here, there = _prefill(first, at[0]), _decode(second, at[1])
    fixed = moved + here.copy.own_prefill_s + here.copy.ingress_s
    q, zero = limits.quantile, np.array(0.0)
    alone = here.stage.times(_idle_rate(here))
    rest = limits.ttft_s - fixed - float(np.quantile(alone.total_s, q))
    if rest <= 0.0:
        return None
    with np.errstate(divide="ignore"):
        able = there.stage.most(share * rest, limits.tpot_s, q, zero)
        if able <= 0.0:
            return None
        later = there.stage.times(able).total_s
    prompts = here.stage.most(limits.ttft_s - fixed, math.inf, q, later)
    if prompts <= 0.0:
        return None
    here = replace(here, most=prompts * here.copy.copies)
    there = replace(there, most=able * there.copy.copies)
    return Pair(here, there, moved)


def _idle_rate(half: Half) -> float:
    """Return a rate at which a replica is nearly idle."""
    inputs, hits = half.stage.input_tokens, half.stage.hit_tokens
    work = (half.copy.clock, half.copy.limits, inputs, half.stage.output_tokens, hits)
    return SEARCH_IDLE_FRAC * most_stable_rate(*work)


def _moved_s(states: States, at: int) -> float:
    """Return the time from the end of a prompt to its first decode step.

    The cache of one layer is sent while the next one is computed, so the last one remains.
    """
    work, one = states.work, states.one(at)
    sent = sequence_bytes(one.model, one.layout, np.array(work.need.input_tokens))
    last = float(np.max(sent / one.model.layers / one.device.nic_bytes_per_s))
    return last + float(np.max(one.terms.handover_ms)) * MILLI


def _prefill(states: States, at: int) -> Half:
    work = states.work
    inputs, outputs, hits = work.requests()
    terms = states.served.terms
    faster = terms.prefill_factor * terms.pool_prefill_factor
    own = replace(terms, separate_prefill_frac=np.ones(1), prefill_factor=faster)
    one = replace(states.one(at), terms=own)
    most = float(states.found.most_requests[at, 0])
    copy = copy_of(one, work.need, most, slots_of(work), math.inf)
    stage = Stage(copy.clock, copy.limits, inputs, np.ones_like(outputs), hits)
    return Half(at, copy, stage, 0.0, work.layouts[at].accelerators)


def _decode(states: States, at: int) -> Half:
    work = states.work
    inputs, outputs, _ = work.requests()
    most = float(states.found.most_requests[at, 0])
    copy = decoding_copy(states.one(at), work.need, most, slots_of(work), work.plan)
    per_step = work.plan.tokens_per_step
    stage = Stage(copy.clock, copy.limits, inputs, outputs, inputs - 1.0, per_step, step_wait=False)
    return Half(at, copy, stage, 0.0, work.layouts[at].accelerators)

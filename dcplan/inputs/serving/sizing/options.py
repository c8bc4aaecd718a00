"""Replicas that may serve a load: the useful layouts of a service, and its best pair of pools."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from dcplan.cache import Shelf, stored
from dcplan.inputs.serving.setups import Service
from dcplan.inputs.serving.sizing.pools import BOTH, DECODE, PREFILL, Half, Pair, pairs_of
from dcplan.inputs.serving.sizing.power import PoolLoad, pool_power_frac
from dcplan.inputs.serving.sizing.rates import Rates, rates_of
from dcplan.inputs.serving.sizing.states import States, states_of
from dcplan.inputs.serving.sizing.work import ServedWork
from dcplan.serving.queue.percentiles import open_loop

MOST_SEARCHED = 16
"""Layouts whose rate is searched at most."""
CACHED = 512
REPLICAS = Shelf("replicas", 4096)
"""Replicas and pairs of pools that earlier processes found, some 500 bytes each."""


@dataclass(frozen=True)
class Replica:
    """A replica at its highest rate within the latency limits."""

    layout: str
    accelerators: int
    requests_per_s: float
    power_frac: float
    """Mean power of an accelerator over its thermal design power at this rate."""

    def needed(self, requests_per_s: float, spares: int) -> int:
        """Return the accelerators of complete replicas for a rate, with spares."""
        return (math.ceil(requests_per_s / self.requests_per_s) + spares) * self.accelerators


@dataclass(frozen=True)
class ReplicaPair:
    """A prefill replica and a decode replica of a disaggregated service."""

    prefill: Replica
    decode: Replica

    @property
    def accelerators_per_rps(self) -> float:
        """Accelerators of both pools for one request per second."""
        return sum(x.accelerators / x.requests_per_s for x in (self.prefill, self.decode))


@dataclass(frozen=True)
class KeyedWork:
    """A service to size, compared by its numbers, so that equal services are sized once."""

    key: tuple[object, ...]
    work: ServedWork = field(compare=False)


def keyed(work: ServedWork) -> KeyedWork:
    """Return a service with a key of all its numbers."""
    lengths = work.lengths
    arrays = (lengths.input_tokens, lengths.output_tokens, lengths.hit_tokens)
    parts = (work.layouts, work.limits, work.plan, work.arrival_cv2, work.encode_s)
    return KeyedWork((*_numbers(work.service), *parts, *(x.tobytes() for x in arrays)), work)


def _numbers(found: Service) -> tuple[object, ...]:
    tables: tuple[Mapping[str, float], ...]
    tables = (found.numbers, found.device, found.terms, found.power)
    rest = (found.memory_frac, found.reserve_bytes, found.step_tokens, found.most_running)
    return (*(tuple(sorted(x.items())) for x in tables), *rest)


@functools.lru_cache(maxsize=CACHED)
def sized(service: KeyedWork) -> Rates:
    """Return the states of a service, whose rates are searched where they are asked for."""
    return rates_of(states_of(service.work))


@functools.lru_cache(maxsize=CACHED)
def replicas(service: KeyedWork) -> tuple[Replica, ...]:
    """Return the replicas that no other replica beats in both size and rate per accelerator.

    The smallest is first. The tuple is empty if no layout meets the limits. They are kept for later
    processes: the key of a service has all its numbers.
    """
    return stored(REPLICAS, repr(service.key), lambda: _replicas(service))


def _replicas(service: KeyedWork) -> tuple[Replica, ...]:
    rates = sized(service)
    sizes = rates.states.found.accelerators[:, 0]
    found: list[tuple[float, int]] = []
    order = [int(i) for i in np.lexsort((-rates.bound, sizes)) if rates.bound[i] > 0.0]
    best, searched = 0.0, 0
    for at in order:
        if rates.bound[at] <= best or searched >= MOST_SEARCHED:
            continue
        searched += 1
        value = rates.value(at)
        if value > best:
            best = value
            found = [x for x in found if sizes[x[1]] < sizes[at]] + [(value, at)]
    return tuple(_replica(rates, at) for _, at in found)


def _replica(rates: Rates, at: int) -> Replica:
    work, most = rates.states.work, rates.most(at)
    layout, loop = work.layouts[at], rates.latency(at, most)
    running = loop.running * rates.copy(at).copies
    load = PoolLoad(most, running, loop.tpot_s.mean, rates.stable(at))
    power = pool_power_frac(work, rates.states.one(at), layout, load, BOTH)
    return Replica(str(layout), layout.accelerators, most, power)


@functools.lru_cache(maxsize=CACHED)
def _pairs(first: KeyedWork, second: KeyedWork) -> tuple[Pair, ...]:
    """Return the pairs of pools whose replicas have any size, those with fewest accelerators first."""
    here, there = sized(first).states, sized(second).states
    largest = max(x.accelerators for s in (here, there) for x in s.work.layouts)
    found = pairs_of(here, here if first == second else there, (largest,))
    return tuple(sorted(found, key=lambda p: p.accelerators_per_rps))


@functools.lru_cache(maxsize=CACHED)
def best_pair(first: KeyedWork, second: KeyedWork) -> ReplicaPair | None:
    """Return the pair of pools with the fewest accelerators per request, or None.

    It is kept for later processes, as the replicas are.
    """
    asked = repr((first.key, second.key))
    return stored(REPLICAS, asked, lambda: _best_pair(first, second))


def _best_pair(first: KeyedWork, second: KeyedWork) -> ReplicaPair | None:
    found = _pairs(first, second)
    if not found:
        return None
    halves = ((first, found[0].prefill, PREFILL), (second, found[0].decode, DECODE))
    return ReplicaPair(*(_half(sized(work).states, half, pool) for work, half, pool in halves))


def pair_of(first: KeyedWork, second: KeyedWork, layouts: tuple[str, str]) -> Pair | None:
    """Return the best pair of pools of two layouts, or None."""

    def names(pair: Pair) -> tuple[str, str]:
        at = (pair.prefill.at, pair.decode.at)
        return (str(first.work.layouts[at[0]]), str(second.work.layouts[at[1]]))

    return next((p for p in _pairs(first, second) if names(p) == layouts), None)


def _half(states: States, half: Half, pool: str) -> Replica:
    work, stage, copies = states.work, half.stage, half.copy.copies
    with np.errstate(divide="ignore"):
        loop = open_loop(
            half.most / copies,
            *(stage.clock, stage.limits, stage.input_tokens, stage.output_tokens),
            hit_tokens=stage.hit_tokens,
            speculative_tokens=stage.tokens_per_step,
        )
    stable = half.most / loop.utilization_frac
    load = PoolLoad(half.most, loop.running * copies, loop.tpot_s.mean, stable)
    layout = work.layouts[half.at]
    power = pool_power_frac(work, states.one(half.at), layout, load, pool)
    return Replica(str(layout), layout.accelerators, half.most, power)

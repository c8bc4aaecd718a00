"""States of all layouts of a service in a closed loop, and the floors of their latencies."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dcplan.inputs.serving.setups import memory_terms, served_of
from dcplan.inputs.serving.sizing.work import ServedWork
from dcplan.serving.forward import Served
from dcplan.serving.memory import MemoryTerms, cache_space_bytes, most_requests
from dcplan.serving.search import Points, points, tall_layout
from dcplan.serving.speculative import speculated
from dcplan.serving.steady import Load, Steady, closed_loop
from dcplan.serving.tables import Array, picked


@dataclass(frozen=True)
class States:
    """Every layout of a service at every batch."""

    work: ServedWork
    served: Served
    memory: MemoryTerms
    found: Points
    space_bytes: Array
    """Memory of an accelerator for the cache; below 0 if the weights do not fit, shape (layouts,)."""

    @property
    def fits(self) -> Array:
        """1 where a request fits, shape (layouts,)."""
        return (self.found.most_requests[:, 0] >= 1.0).astype(np.float64)

    @property
    def tpot_floor_s(self) -> Array:
        """Time per output token of a single request, shape (layouts,)."""
        return np.asarray(self.found.steady.tpot_s[:, 0])

    @property
    def ttft_floor_s(self) -> Array:
        """Time to first token of a single request, shape (layouts,)."""
        one = self.found.steady
        return np.asarray((one.ingress_s + one.prefill_s + one.first_step_s)[:, 0])

    def one(self, at: int) -> Served:
        """Return one layout."""
        return replace(self.served, layout=picked(self.served.layout, np.array([at])))


def states_of(work: ServedWork) -> States:
    """Return the closed loop of every layout of a service at every batch."""
    served, memory = served_of([work.service], work.layouts), memory_terms([work.service])
    served = replace(served, encode_s=work.encode_s)
    space = cache_space_bytes(served.model, served.device, served.layout, memory)
    found = points(served, memory, work.need, work.service.most_running)
    if work.plan.draft_tokens:
        found = replace(found, steady=_speculated(work, served, found))
    return States(work, served, memory, found, np.asarray(space))


def _speculated(work: ServedWork, served: Served, found: Points) -> Steady:
    """Return the states of all layouts with speculative decoding."""
    tall = tall_layout(served.layout)
    requests = found.concurrency[None, :] + 0.0 * found.most_requests
    load = _load(work, requests, found.most_requests)
    return speculated(replace(served, layout=tall), load, found.steady, work.plan)


def _load(work: ServedWork, requests: Array, most_requests: Array) -> Load:
    need = work.need
    return Load(
        requests=requests,
        input_tokens=np.array(need.input_tokens),
        output_tokens=np.array(need.output_tokens),
        cached_tokens=np.array(need.cached_tokens),
        most_requests=most_requests,
        step_tokens=np.array(work.service.step_tokens),
    )


def loop_at(states: States, at: int, requests: Array) -> Steady:
    """Return the closed loop of one layout at numbers of requests, shape (n,)."""
    work, one = states.work, states.one(at)
    load = _load(work, requests, states.found.most_requests[at])
    return speculated(one, load, closed_loop(one, load), work.plan)


def kv_tokens(states: States, at: int) -> float:
    """Return the tokens that the cache of a replica holds, at the mean context of a request."""
    need = states.work.need
    context = need.input_tokens + need.output_tokens / 2.0
    one = states.one(at)
    fits = most_requests(one.model, one.device, one.layout, states.memory, np.array(context))
    return float(np.floor(float(fits[0]) * context))

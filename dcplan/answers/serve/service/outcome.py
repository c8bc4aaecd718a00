"""A service at its load: pools of replicas, latency, rate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dcplan.answers.serve.resolve import ServeRun
from dcplan.answers.serve.service.played import Played
from dcplan.answers.serve.service.rates import Fleet, RunRates, best_fleet
from dcplan.inputs.serving.clocking import Copy
from dcplan.inputs.serving.sizing.pools import BOTH
from dcplan.inputs.serving.sizing.states import States
from dcplan.serving.forward import Served
from dcplan.serving.queue.percentiles import OpenLoop, Percentiles
from dcplan.serving.search import Layout


@dataclass(frozen=True)
class Pool:
    """Replicas of one kind."""

    name: str
    layout: Layout
    served: Served
    most_requests: float
    """Requests of a replica whose cache fits and that the engine runs."""
    replicas: int
    spare_replicas: int
    rate: float
    """Request rate of a replica [1/s]."""
    rate_max: float
    """Highest request rate of a replica within the limits [1/s]."""
    stable_rate: float
    """Request rate of a replica from which its queue grows without limit [1/s]."""
    running: float
    """Requests that decode at the same time in a replica."""

    @property
    def serving(self) -> int:
        """Accelerators without spares."""
        return self.replicas * self.layout.accelerators

    @property
    def spares(self) -> int:
        """Accelerators of spare replicas."""
        return self.spare_replicas * self.layout.accelerators


@dataclass(frozen=True)
class Outcome:
    """A service at its load."""

    run: ServeRun
    states: States
    rates: RunRates
    pools: tuple[Pool, ...]
    rate: float
    """Request rate of the service [1/s]."""
    parts: tuple[tuple[str, Percentiles], ...]
    """Parts of the time to first token in their order."""
    ttft_s: Percentiles
    tpot_s: Percentiles
    at: int
    """Index of the layout that decodes."""
    kind: str
    """Kind of measurement that the intervals are of: closed or split."""
    played: Played | None = None
    """The replay of the trace that the latencies are of."""
    formulas: OpenLoop | None = None
    """The formulas at the load of a trace; None where their queue grows without limit."""
    failed: Mapping[int, int] = field(default_factory=dict)
    """Layout -> most accelerators on which the replay of the trace was not within the limits."""

    @property
    def main(self) -> Pool:
        """The replicas that decode."""
        return self.pools[-1]

    @property
    def serving(self) -> int:
        """Accelerators without spares."""
        return sum(p.serving for p in self.pools)

    @property
    def spares(self) -> int:
        """Accelerators of spare replicas."""
        return sum(p.spares for p in self.pools)

    @property
    def rate_max(self) -> float:
        """Highest request rate of the service within the limits [1/s]."""
        return min(p.replicas * p.rate_max for p in self.pools)

    @property
    def tokens_per_s(self) -> float:
        """Output tokens per second of the service."""
        return self.rate * self.run.need.output_tokens


def shifted(values: Percentiles, by: float) -> Percentiles:
    """Return percentiles with a constant time added to each."""
    x = values
    return Percentiles(x.mean + by, x.p50 + by, x.p90 + by, x.p99 + by, x.asked + by)


def constant(value: float) -> Percentiles:
    """Return the percentiles of a constant time."""
    return Percentiles(value, value, value, value, value)


def latency_parts(
    loop: OpenLoop, copy: Copy
) -> tuple[tuple[tuple[str, Percentiles], ...], Percentiles]:
    """Return the parts of the time to first token, and the time."""
    parts = (
        ("ingress: HTTP, tokenizer, first scheduling", constant(loop.ingress_s)),
        ("wait for the running step", loop.first_step_s),
        ("queue: slot, KV cache, prompts ahead", loop.queue_s),
        ("prefill with the first token", shifted(loop.prefill_s, copy.own_prefill_s)),
    )
    return parts, shifted(loop.ttft_s, copy.own_prefill_s)


def open_outcome(rates: RunRates) -> Outcome | None:
    """Return the best service of equal replicas at a rate, or None."""
    fleet = best_fleet(rates)
    return outcome_of(rates, fleet) if fleet else None


def outcome_of(rates: RunRates, fleet: Fleet) -> Outcome:
    """Return the replicas of a layout at their load."""
    states, run, at = rates.states, rates.run, fleet.at
    copy = rates.copy(at)
    loop = rates.latency(at, fleet.rate / fleet.replicas)
    parts, ttft = latency_parts(loop, copy)
    pool = Pool(
        BOTH,
        run.layouts[at],
        states.one(at),
        float(states.found.most_requests[at, 0]),
        fleet.replicas,
        run.spare_replicas,
        fleet.rate / fleet.replicas,
        rates.most(at),
        rates.stable(at),
        loop.running * copy.copies,
    )
    return Outcome(run, states, rates, (pool,), fleet.rate, parts, ttft, loop.tpot_s, at, "closed")

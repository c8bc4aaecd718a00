"""Latency of the services of a plan at their highest load, by the serving model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from dcplan.inputs.cloud_prices import cloud_place, row_of
from dcplan.inputs.log import InputLog
from dcplan.inputs.serving.machines import Machine, machine_of
from dcplan.inputs.serving.sizing.options import KeyedWork, keyed, pair_of, sized
from dcplan.inputs.serving.sizing.pools import DECODE, PREFILL
from dcplan.planning.audit.check import Check
from dcplan.planning.audit.work.services import highest_demands
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.services.spec import ServiceSpec, hosted, spec_of
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.terms import DemandTerms, ReplicaTerms
from dcplan.scenario.load import Question
from dcplan.serving.queue.tandem import independent
from dcplan.units import MILLI, TOKENS_PER_KTOKEN

P = tuple[str, str, str]
RATE_EPS = 1e-3
"""Excess of a rate over the highest one, relative to it, that is a rounding error of the solver."""


@dataclass(frozen=True)
class ServiceLatency:
    """Latency of the replicas of a service in one place at the highest load of a quarter."""

    demand: DemandTerms
    quarter: int
    places: tuple[P, ...]
    """Placement of the replicas; of a disaggregated service, of prefill and decode."""
    requests_per_s: float
    """Request rate of a replica; of a disaggregated service, of a decode replica."""
    ttft_ms: float
    """Time to first token that the asked share of the requests keeps, with the network."""
    tpot_ms: float


def service_latencies(
    problem: PlanningProblem, d: Decisions, question: Question
) -> list[ServiceLatency]:
    """Return the latency of every service in its highest period of each quarter and place.

    Engine, layout and rate are those of the plan; the time is computed again from the catalog.
    """
    if not any(x.replica for x in problem.demands):
        return []
    specs = _specs(question)
    highest = highest_demands(problem)
    found = []
    for index, used in sorted(d.serving.items()):
        c, *key, t = index
        demand = problem.demand(c)
        place: P = (key[0], key[1], key[2])
        replica = demand.replica.get((place[0], place[2]))
        if replica is None or c not in highest or replica.pool == PREFILL:
            continue
        spec = specs[demand.workload_id]
        rate = _rate(d, demand, replica, place, t, used, spec)
        if replica.pool == DECODE:
            found += _of_pair(problem, d, question, spec, demand, place, t, rate)
            continue
        times = _single(question, spec, replica, place[2], rate)
        found.append(ServiceLatency(demand, t, (place,), rate, *times))
    return found + _rented(problem, d, question, specs, highest)


def _rented(
    problem: PlanningProblem,
    d: Decisions,
    question: Question,
    specs: Mapping[str, ServiceSpec],
    highest: set[str],
) -> list[ServiceLatency]:
    """Return the latency of rented replicas at the rate for which they are rented."""
    found = []
    for (c, name, t), _ in sorted(d.rented.items()):
        offer = next(o for o in problem.offers if o.id == name)
        demand = problem.demand(c)
        place = cloud_place(offer.id)
        replica = demand.replica.get((place, offer.accelerator))
        if replica is None or c not in highest:
            continue
        load = demand.each[place, offer.accelerator] * replica.accelerators
        rate = load * TOKENS_PER_KTOKEN / specs[demand.workload_id].output_tokens
        rate = min(rate, replica.requests_per_s)
        times = _single(question, specs[demand.workload_id], replica, row_of(offer.id), rate)
        key = (place, "", offer.accelerator)
        found.append(ServiceLatency(demand, t, (key,), rate, *times))
    return found


def latency_checks(found: Iterable[ServiceLatency], question: Question) -> Iterable[Check]:
    """Check the latency of every service at its highest load."""
    given = {x.id: x for x in question.scenario.workloads.inference}
    for x in found:
        slo = given[x.demand.workload_id].slo
        if slo is None:
            continue
        where = f"{x.demand.id} {x.places[0][0]}"
        yield Check(CheckId.SERVICE_TTFT_MS, where, x.quarter, x.ttft_ms, slo.ttft_ms.value)
        yield Check(CheckId.SERVICE_TPOT_MS, where, x.quarter, x.tpot_ms, slo.tpot_ms.value)


def _specs(question: Question) -> dict[str, ServiceSpec]:
    log = InputLog(question.catalog)
    return {
        x.id: spec_of(x, question, log)
        for x in question.scenario.workloads.inference
        if x.model is not None
    }


def _rate(
    d: Decisions,
    demand: DemandTerms,
    replica: ReplicaTerms,
    place: P,
    t: int,
    used: float,
    spec: ServiceSpec,
) -> float:
    """Return the request rate of a replica that is no spare [1/s]."""
    replicas = d.replicas.get((demand.id, *place, t), 0) - demand.spare_replicas
    amount = used * demand.each[place[0], place[2]] * TOKENS_PER_KTOKEN / spec.output_tokens
    rate, most = amount / max(replicas, 1), replica.requests_per_s
    # a throughput of the scenario may exceed that of the model, whose latency is at its own rate
    typed = bool(spec.given.tokens_per_s_per_accelerator)
    return min(rate, most) if typed or rate <= most * (1.0 + RATE_EPS) else rate


def _single(
    question: Question, spec: ServiceSpec, replica: ReplicaTerms, system: str, rate: float
) -> tuple[float, float]:
    rates = sized(_work(question, spec, replica, system))
    at = [str(x) for x in rates.states.work.layouts].index(replica.layout)
    loop = rates.latency(at, rate)
    ttft = loop.ttft_s.asked + rates.copy(at).own_prefill_s + replica.rtt_s
    return ttft / MILLI, loop.tpot_s.asked / MILLI


def _work(question: Question, spec: ServiceSpec, replica: ReplicaTerms, system: str) -> KeyedWork:
    log = InputLog(question.catalog)
    machine = machine_of(question.catalog, system)
    assert isinstance(machine, Machine)  # noqa: S101 - the plan has the system from the catalog
    works = hosted(spec, machine, log, replica.nic_gb_per_s, replica.rtt_s)
    return next(keyed(x.work) for x in works if x.precision == replica.precision)  # type: ignore[union-attr]


def _of_pair(
    problem: PlanningProblem,
    d: Decisions,
    question: Question,
    spec: ServiceSpec,
    demand: DemandTerms,
    place: P,
    t: int,
    rate: float,
) -> list[ServiceLatency]:
    """Return the latency of a pair of pools with the first placement of its prefill pool."""
    first = next(problem.demand(x.prefill) for x in problem.pairs if x.decode == demand.id)
    prefills = [
        (i, x) for i, x in d.serving.items() if i[0] == first.id and i[-1] == t and i[1] == place[0]
    ]
    found = []
    for (_, *key, _), used in prefills:
        there: P = (key[0], key[1], key[2])
        both = first.replica[there[0], there[2]], demand.replica[place[0], place[2]]
        prompts = _rate(d, first, both[0], there, t, used, spec)
        first_work = _work(question, spec, both[0], there[2])
        second_work = _work(question, spec, both[1], place[2])
        pair = pair_of(first_work, second_work, (both[0].layout, both[1].layout))
        if pair is None:  # the audit cannot confirm the limits, so they count as missed
            found.append(ServiceLatency(demand, t, (there, place), rate, math.inf, math.inf))
            continue
        with np.errstate(divide="ignore"):
            before = pair.prefill.stage.times(prompts / pair.prefill.copy.copies)
            after = pair.decode.stage.times(rate / pair.decode.copy.copies)
        fixed = pair.prefill.copy.ingress_s + pair.prefill.copy.own_prefill_s + pair.moved_s
        total = independent(before.total_s + fixed, after.total_s)
        q = first_work.work.limits.quantile
        ttft, tpot = (float(np.quantile(x[np.isfinite(x)], q)) for x in (total, after.tpot_s))
        times = ((ttft + both[0].rtt_s) / MILLI, tpot / MILLI)
        found.append(ServiceLatency(demand, t, (there, place), rate, *times))
    return found

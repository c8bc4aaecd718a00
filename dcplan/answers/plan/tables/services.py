"""Services of a plan: replicas, latency at the highest load, and energy by period of the week."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dcplan.answers.plan.calendar import quarter_at
from dcplan.catalog.model_names import model_of
from dcplan.demand.periods import HOURS
from dcplan.inputs.cloud_prices import cloud_place
from dcplan.planning.audit.work.services import highest_demands
from dcplan.planning.decisions import Decisions
from dcplan.planning.model.sets import P
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.terms import DemandTerms, ReplicaTerms
from dcplan.result import Table
from dcplan.scenario.load import Question
from dcplan.specs.plan import services as specs
from dcplan.units import TOKENS_PER_KTOKEN, W_PER_KW

if TYPE_CHECKING:
    from dcplan.planning.audit.work.latency import ServiceLatency

BOTH = "both"
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
DAY_HOURS = 24


@dataclass(frozen=True)
class _Replicas:
    """Replicas of a demand in one placement or offer."""

    place: str
    system: str
    placement: P | None
    replica: ReplicaTerms
    replicas: float
    spares: int
    accelerators: float
    """Owned: of complete replicas with spares; rented: those in use."""
    used: float
    """Accelerators that serve."""
    ktokens_per_s: float
    """Highest load that they serve [1,000 tokens/s]."""


def _replicas(
    problem: PlanningProblem, d: Decisions, demand: DemandTerms, t: int
) -> Iterator[_Replicas]:
    """Yield the replicas of a demand in a quarter by placement and offer."""
    for (c, h, cooling, k, q), used in sorted(d.serving.items()):
        replica = demand.replica.get((h, k))
        if c != demand.id or q != t or replica is None:
            continue
        place = (h, cooling, k)
        size = d.reserved(demand, place, t)
        both = round(size / replica.accelerators)
        spares = min(demand.spare_replicas, both)
        served = used * demand.each[h, k]
        yield _Replicas(h, k, place, replica, both - spares, spares, size, used, served)
    for offer in problem.offers:
        used = d.rented.get((demand.id, offer.id, t), 0.0)
        key = (cloud_place(offer.id), offer.accelerator)
        replica = demand.replica.get(key)
        if used and replica is not None:
            count = used / replica.accelerators
            served = used * demand.each[key]
            yield _Replicas(*key, None, replica, count, 0, used, used, served)


def services(
    problem: PlanningProblem, d: Decisions, latencies: Sequence[ServiceLatency], question: Question
) -> Table:
    """Return the replicas of each service in its highest period, with their latency."""
    models = {
        x.id: row.id if (row := model_of(question.catalog, x.model or "")) else x.model or ""
        for x in question.scenario.workloads.inference
    }
    slos = {x.id: x.slo for x in question.scenario.workloads.inference}
    times = {(x.demand.id, place, x.quarter): x for x in latencies for place in x.places[-1:]}
    highest, rows = highest_demands(problem), []
    for t in range(problem.quarters):
        for demand in (x for x in problem.demands if x.id in highest):
            slo = slos[demand.workload_id]
            for x in _replicas(problem, d, demand, t) if slo is not None else ():
                where = x.placement or (x.place, "", x.system)
                found = times.get((demand.id, where, t))
                rows.append(
                    specs.ServiceRow(
                        quarter=quarter_at(problem, t),
                        service=demand.load_id,
                        model=models[demand.workload_id],
                        place=x.place,
                        system=x.system,
                        pool=x.replica.pool or BOTH,
                        engine=x.replica.engine,
                        precision=x.replica.precision,
                        layout=x.replica.layout,
                        replicas=x.replicas,
                        spare_replicas=x.spares,
                        accelerators=x.accelerators,
                        output_tokens_per_s=x.ktokens_per_s * TOKENS_PER_KTOKEN,
                        ttft_ms=found.ttft_ms if found else None,
                        ttft_limit_ms=slo.ttft_ms.value if slo else 0.0,
                        tpot_ms=found.tpot_ms if found else None,
                        tpot_limit_ms=slo.tpot_ms.value if slo else 0.0,
                    )
                )
    return specs.SERVICES.table(rows)


def service_loads(problem: PlanningProblem, d: Decisions) -> Table:
    """Return load, accelerators, power and energy of each service by period of the week."""
    rows = []
    for t in range(problem.quarters):
        for main in (x for x in problem.required if x.load):
            parts = [
                (x, y) for x in problem.demand_parts(main.id) for y in _served(problem, d, x, t)
            ]
            owned = [(x, y) for x, y in parts if y.placement is not None]
            tokens = main.scenario_unit[1]
            served = sum(x.share * y.ktokens_per_s for x, y in parts) * tokens
            if not served:
                continue
            own = sum(x.share * y.ktokens_per_s for x, y in owned) * tokens
            kw = sum(_kw(problem, x, y) for x, y in owned) if owned else None
            rows.append(
                specs.ServiceLoadRow(
                    quarter=quarter_at(problem, t),
                    service=main.load_id,
                    period=(main.period or 0) + 1,
                    hours_per_week=main.hours_frac * HOURS,
                    output_tokens_per_s=served,
                    owned_accelerators=sum(y.accelerators for _, y in owned),
                    rented_accelerators=sum(
                        x.rent_frac * y.used for x, y in parts if y.placement is None
                    ),
                    it_kw=kw,
                    energy_j_per_token=kw * W_PER_KW / own if kw is not None and own else None,
                )
            )
    return specs.SERVICE_LOADS.table(rows)


def _served(
    problem: PlanningProblem, d: Decisions, demand: DemandTerms, t: int
) -> Iterator[_Replicas]:
    """Yield what serves a demand, also where its throughput is given."""
    yield from _replicas(problem, d, demand, t)
    given = ReplicaTerms(1, "", "", "", 0.0)
    for (c, h, cooling, k, q), used in sorted(d.serving.items()):
        if c == demand.id and q == t and (h, k) not in demand.replica:
            served = used * demand.each[h, k]
            yield _Replicas(h, k, (h, cooling, k), given, used, 0, used, used, served)
    for offer in problem.offers:
        key = (cloud_place(offer.id), offer.accelerator)
        used = d.rented.get((demand.id, offer.id, t), 0.0)
        if used and key not in demand.replica:
            yield _Replicas(*key, None, given, used, 0, used, used, used * demand.each[key])


def _kw(problem: PlanningProblem, demand: DemandTerms, found: _Replicas) -> float:
    """Return the mean IT power of owned replicas in their period [kW]."""
    place = next(p for p in problem.placements if p.key == found.placement)
    idle = place.idle_average_kw / place.accelerators
    return found.accelerators * idle + found.used * place.serving_kw(demand) / demand.hours_frac


def load_periods(problem: PlanningProblem) -> Table:
    """Return the hours of each period of the week."""
    if len(problem.periods) == 1:
        return specs.LOAD_PERIODS.table([])
    return specs.LOAD_PERIODS.table(
        specs.LoadPeriodRow(
            period=p + 1,
            hours_per_week=frac * HOURS,
            hours_utc=_hours_text([h for h, q in enumerate(problem.period_of_hour) if q == p]),
        )
        for p, frac in enumerate(problem.periods)
    )


def _hours_text(hours: Sequence[int]) -> str:
    """Return hours of the week as text, days with the same hours together.

    Examples
    --------
    >>> _hours_text([8, 9, 24 + 8, 24 + 9, 48 + 7])
    'Mon Tue 08-10, Wed 07-08'
    >>> _hours_text([24 * day + 8 for day in range(7)])
    'every day 08-09'
    """
    by_day: dict[tuple[int, ...], list[str]] = {}
    for day, name in enumerate(DAYS):
        own = tuple(h % DAY_HOURS for h in hours if h // DAY_HOURS == day)
        if own:
            by_day.setdefault(own, []).append(name)
    names = {
        x: "every day" if len(days) == len(DAYS) else " ".join(days) for x, days in by_day.items()
    }
    return ", ".join(f"{names[own]} {_spans(own)}" for own in by_day)


def _spans(hours: Sequence[int]) -> str:
    spans: list[list[int]] = []
    for hour in hours:
        if spans and hour == spans[-1][1]:
            spans[-1][1] = hour + 1
        else:
            spans.append([hour, hour + 1])
    return " ".join(f"{a:02d}-{b:02d}" for a, b in spans)

"""Demands that any suitable accelerator may serve: research capacity and services."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dcplan.catalog.schema import System
from dcplan.errors import InputError
from dcplan.fabric.effective import LinkSpeed
from dcplan.inputs.cloud_prices import row_of
from dcplan.inputs.excluded import ExcludedOption, Kind
from dcplan.inputs.log import InputLog
from dcplan.planning.problem.services.build import services
from dcplan.planning.problem.work.jobs import JobCandidates
from dcplan.planning.problem.work.permitted import permitted
from dcplan.planning.problem.work.residency import resident
from dcplan.planning.problem.work.targets import Target
from dcplan.planning.problem.work.terms import (
    H100,
    HOURS,
    PFLOPS,
    DemandTerms,
    NearestLatency,
    PoolPair,
    part_id,
)
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Capacity, Demand, Reference
from dcplan.units import BITS_PER_BYTE, HOURS_PER_QUARTER, TFLOPS_PER_PFLOPS

REFERENCE_ACCELERATOR = "h100-sxm"
"""Accelerator of the unit H100-equivalents."""


@dataclass(frozen=True)
class Demands:
    """Every demand of a scenario, with the periods of the week."""

    terms: tuple[DemandTerms, ...]
    periods: tuple[float, ...]
    """Shares of the hours of the week."""
    period_of_hour: tuple[int, ...]
    pairs: tuple[PoolPair, ...]
    notes: tuple[str, ...]
    nearest: tuple[NearestLatency, ...]


def demand_terms(
    question: Question,
    log: InputLog,
    excluded: list[ExcludedOption],
    where: Sequence[Target],
    problem: JobCandidates,
    country: dict[str, str],
) -> Demands:
    """Return every demand of a scenario: capacity and inference."""
    work = question.scenario.workloads
    served = services(question, log, excluded, where, country)
    found: list[DemandTerms] = []
    for x in work.capacity:
        able = resident(where, x.countries, country, Kind.CAPACITY, x.id, excluded)
        able = permitted(x, Kind.CAPACITY, able, log, excluded)
        terms = _capacity(x, question, log, excluded, able, problem)
        found += any_hours(terms, served.periods) if x.any_hours else [terms]
    return Demands(
        (*found, *served.terms),
        served.periods,
        served.period_of_hour,
        served.pairs,
        served.notes,
        served.nearest,
    )


def any_hours(demand: DemandTerms, periods: Sequence[float]) -> list[DemandTerms]:
    """Return a demand whose average over the week may be served in any period.

    Its first part has the row, and each part serves in one period.
    """
    if len(periods) == 1:
        return [demand]
    parts = [
        replace(
            demand,
            id=part_id(demand.id, f"p{p + 1}"),
            wanted=tuple(0.0 for _ in demand.wanted),
            unmet_usd=None,
            period=p,
            hours_frac=frac,
            row=demand.id,
            share=frac,
        )
        for p, frac in enumerate(periods)
    ]
    return [replace(demand, each={}), *parts]


def _capacity(
    demand: Capacity,
    question: Question,
    log: InputLog,
    excluded: list[ExcludedOption],
    where: Sequence[Target],
    problem: JobCandidates,
) -> DemandTerms:
    key, quarters = f"workloads.capacity.{demand.id}", question.scenario.horizon.quarters
    series = log.series(f"{key}.{demand.unit}", getattr(demand, demand.unit), quarters)
    busy = log.take(f"{key}.utilization_frac", demand.utilization_frac)
    each: dict[tuple[str, str], float] = {}
    reference = demand.reference
    if demand.unit == "accelerator_hours" or reference is None:
        each = {(t.place, t.system): busy * t.available_frac for t in where}
        wanted, scenario_unit = (
            [x / HOURS_PER_QUARTER for x in series],
            ("accelerator_hours", HOURS_PER_QUARTER),
        )
        return _terms(
            demand, log, key, wanted, each, HOURS, HOURS_PER_QUARTER, scenario_unit=scenario_unit
        )
    in_h100 = demand.unit == "h100_equivalents"
    whole = (
        _h100_tflops(demand, reference, question, problem, log) if in_h100 else TFLOPS_PER_PFLOPS
    )
    size = int(log.parameter("training", "reference-accelerators"))
    for target in where:
        if target.offer is not None and not target.offer.connects(size):
            rate: float | str = (
                f"the reference job has {size} accelerators, but no network between instances is "
                f"known; give prices.{row_of(target.offer.id)}.scaleout_gbps"
            )
        else:
            rate = problem.reference_tflops(reference, target)
        if isinstance(rate, str):
            excluded.append(
                ExcludedOption(Kind.CAPACITY, demand.id, f"{target.place} {target.system}", rate)
            )
        else:
            each[target.place, target.system] = busy * rate / whole * target.available_frac
    return _terms(
        demand,
        log,
        key,
        series,
        each,
        H100 if in_h100 else PFLOPS,
        scenario_unit=(demand.unit, 1.0),
    )


def _h100_tflops(
    demand: Capacity,
    reference: Reference,
    question: Question,
    problem: JobCandidates,
    log: InputLog,
) -> float:
    """Return the TFLOP/s of an H100, in a server of 8 with 400 Gb/s each, on the reference job."""
    row = next(
        r
        for r in log.catalog.table("systems", System).values()
        if r.accelerator == REFERENCE_ACCELERATOR
    )
    gbps = row.scaleout_port_gbps.value if row.scaleout_port_gbps else 0.0
    each = (row.scaleout_ports or 0) / row.accelerators * gbps / BITS_PER_BYTE
    rate = problem.reference_tflops(
        reference,
        Target("", row.id, REFERENCE_ACCELERATOR, row.accelerators, 10**6, each, LinkSpeed(gbps)),
    )
    if isinstance(rate, str):
        cause = f"{REFERENCE_ACCELERATOR}, the reference of H100-equivalents, cannot run the reference job: {rate}"
        key = [c.id for c in question.scenario.workloads.capacity].index(demand.id)
        path = ("workloads", "capacity", key, "reference")
        raise InputError([question.tree.problem("DC032", cause, path)])
    return rate


def _terms(
    demand: Demand,
    log: InputLog,
    key: str,
    wanted: Sequence[float],
    each: dict[tuple[str, str], float],
    unit: str,
    size: float = 1.0,
    *,
    scenario_unit: tuple[str, float],
    load_frac: float = 1.0,
) -> DemandTerms:
    unmet = demand.usd_per_unmet_quarter
    usd = log.take(f"{key}.usd_per_unmet_quarter", unmet) * size if unmet else None
    return DemandTerms(demand.id, tuple(wanted), each, unit, load_frac, usd, scenario_unit)

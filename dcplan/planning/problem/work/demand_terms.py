"""Demands that any suitable accelerator may serve: research capacity, queues and services."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dcplan.inputs.excluded import ExcludedOption, Kind
from dcplan.inputs.log import InputLog
from dcplan.planning.problem.work.any_hours import any_hours
from dcplan.planning.problem.work.demands import Demands
from dcplan.planning.problem.work.permitted import permitted
from dcplan.planning.problem.work.reference import ReferenceRates, h100_tflops, rate_of
from dcplan.planning.problem.work.residency import resident
from dcplan.planning.problem.work.targets import Target
from dcplan.planning.problem.work.terms import H100, HOURS, PFLOPS, DemandTerms
from dcplan.provenance import Path
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Capacity, Demand
from dcplan.units import HOURS_PER_QUARTER, TFLOPS_PER_PFLOPS


def demand_terms(
    question: Question,
    log: InputLog,
    excluded: list[ExcludedOption],
    where: Sequence[Target],
    rates: ReferenceRates,
    country: dict[str, str],
) -> Demands:
    """Return every demand of a scenario: capacity, queues and inference."""
    work = question.scenario.workloads
    served = Demands()
    if work.inference:
        # the serving model takes a tenth of a second to import
        from dcplan.planning.problem.services.build import services

        served = services(question, log, excluded, where, country)
    found: list[DemandTerms] = []
    for x in work.capacity:
        able = resident(where, x.countries, country, Kind.CAPACITY, x.id, excluded)
        able = permitted(x, Kind.CAPACITY, able, log, excluded)
        terms = _capacity(x, question, log, excluded, able, rates)
        found += any_hours(terms, served.periods) if x.any_hours else [terms]
    notes = served.notes
    if work.queue:
        # the simulation of queues takes long to import
        from dcplan.planning.problem.queue.build import queue_demands

        queued, more = queue_demands(question, log, excluded, where, rates, country, served)
        found, notes = [*found, *queued], (*notes, *more)
    return replace(served, terms=(*found, *served.terms), notes=notes)


def _capacity(
    demand: Capacity,
    question: Question,
    log: InputLog,
    excluded: list[ExcludedOption],
    where: Sequence[Target],
    rates: ReferenceRates,
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
        h100_tflops(reference, _reference_path(demand, question), question, rates)
        if in_h100
        else TFLOPS_PER_PFLOPS
    )
    for target in where:
        rate = rate_of(reference, target, rates)
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


def _reference_path(demand: Demand, question: Question) -> Path:
    key = [c.id for c in question.scenario.workloads.capacity].index(demand.id)
    return ("workloads", "capacity", key, "reference")


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

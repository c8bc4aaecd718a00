"""Use of a plan's accelerators: which workload has which of them in which quarter, and energy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from dcplan.economics.cash_flow import Driver
from dcplan.inputs.cloud_prices import OfferTerms, cloud_place
from dcplan.planning.audit.accounts import overlap_days
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.audit.rent.use import covered, in_force, uses
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import HallTerms, Placement, PlanningProblem
from dcplan.planning.problem.work.terms import QUEUE, TOKENS, RunOption
from dcplan.units import (
    DAYS_PER_MONTH,
    DAYS_PER_QUARTER,
    HOURS_PER_MONTH,
    HOURS_PER_QUARTER,
    KW_PER_MW,
    MONTHS_PER_QUARTER,
)


class Kind(StrEnum):
    """Kind of a workload, or of what no workload uses."""

    TRAINING = "training"
    CAPACITY = "capacity"
    INFERENCE = "inference"
    QUEUE = "queue"
    UNUSED = "unused"
    EARLIER = "paid before"


UNUSED, EARLIER = "(unused)", "(paid before the plan)"
"""Names in place of a workload; ids of workloads have no parentheses."""
LEAST_IDLE = 1e-6
"""Accelerators below which the rest is the rounding of a sum, not idle hardware."""
NAMES = {UNUSED: Kind.UNUSED, EARLIER: Kind.EARLIER}


@dataclass(frozen=True)
class Use:
    """Accelerators of one system or offer that one workload has in one quarter."""

    workload: str
    place: str
    """Hall, or ``cloud:<offer>``."""
    system: str
    """System, or accelerator of the offer."""
    quarter: int
    amounts: Mapping[Driver, float]
    """Shares of payments are in proportion to these; energy in MWh of the facility."""

    @property
    def accelerator_hours(self) -> float:
        """Return the accelerator-hours that the workload has, spares included."""
        return self.amounts.get(Driver.HOURS, 0.0)

    @property
    def energy_mwh(self) -> float:
        """Return the energy of an owned facility; 0 for rent, whose price includes it."""
        return self.amounts.get(Driver.ENERGY, 0.0)


def kinds(problem: PlanningProblem) -> dict[str, Kind]:
    """Return the kind of every workload, in the order of the problem."""
    units = {TOKENS: Kind.INFERENCE, QUEUE: Kind.QUEUE}
    found = {j.id: Kind.TRAINING for j in problem.jobs}
    return found | {x.workload_id: units.get(x.unit, Kind.CAPACITY) for x in problem.demands}


def uses_of(problem: PlanningProblem, d: Decisions, books: Accounts) -> list[Use]:
    """Return the use of all owned and rented accelerators, and what nobody uses, by quarter.

    The accelerator-hours of a placement sum to those of its racks, its energy and that of the
    unused accelerators to the energy of the hall.
    """
    found = [
        use
        for hall in problem.halls
        for t in range(problem.quarters)
        for use in _of_hall(problem, d, books, hall, t)
    ]
    return found + [use for offer in problem.offers for use in _of_offer(problem, d, offer)]


@dataclass
class _Part:
    """Accelerators and direct energy of one workload in one placement."""

    accelerators: float = 0.0
    more_kw: float = 0.0
    """Power in addition to that of the idle accelerators."""


def _of_hall(
    problem: PlanningProblem, d: Decisions, books: Accounts, hall: HallTerms, t: int
) -> Iterable[Use]:
    """Yield the uses of a hall; network and storage energy follows the accelerators."""
    racks = {p: d.racks(problem, p.key, t) for p in problem.placements if p.hall == hall.id}
    off = {p: d.stopped.get((*p.key, t), 0) for p in racks}
    parts = {p: _parts(problem, d, p, t) for p, n in racks.items() if n}
    count = sum(n * p.accelerators for p, n in racks.items())
    hours, season = HOURS_PER_QUARTER / KW_PER_MW, problem.season(t)
    direct = sum(
        ((racks[p] - off[p]) * p.idle_average_kw + sum(x.more_kw for x in of.values()))
        * hours
        * problem.cooled(p.key).pue_at(season)
        for p, of in parts.items()
    )
    other_mwh = books.halls[hall.id, t].facility_mwh - direct  # network and storage
    for p, of in parts.items():
        idle = racks[p] * p.accelerators - sum(x.accelerators for x in of.values())
        unused = _Part(idle if idle > LEAST_IDLE else 0.0)
        for workload, x in {**of, UNUSED: unused}.items():
            each, cooling = x.accelerators / p.accelerators, problem.cooled(p.key)
            on = each - off[p] if workload == UNUSED else each  # racks out of service do no work
            mwh = (on * p.idle_average_kw + x.more_kw) * hours * cooling.pue_at(season)
            amounts = {
                Driver.HOURS: x.accelerators * HOURS_PER_QUARTER,
                Driver.PORTS: each * p.ports,
                Driver.RATED: each * p.rated_kw,
                Driver.PEAK: on * p.rated_kw * cooling.peak_pue,
                Driver.ENERGY: mwh + other_mwh * x.accelerators / count,
            }
            if any(amounts.values()):
                yield Use(workload, hall.id, p.system, t, amounts)
    if not count and other_mwh:
        yield Use(UNUSED, hall.id, "", t, {Driver.ENERGY: other_mwh})


def _parts(problem: PlanningProblem, d: Decisions, place: Placement, t: int) -> dict[str, _Part]:
    """Return what each workload has of a placement, average of all hours of the quarter."""
    found: dict[str, _Part] = defaultdict(_Part)
    for run, training in _training(problem, d, place, t):
        found[run.job].accelerators += training / run.training_frac  # with those that pause
        found[run.job].more_kw += (
            (place.training_kw - place.idle_average_kw) * training / place.accelerators
        )
    for demand in problem.demands:
        index = (demand.id, *place.key, t)
        serving = d.serving.get(index, 0.0)
        part = found[demand.workload_id]
        part.accelerators += d.reserved(demand, place.key, t) * demand.hours_frac
        part.more_kw += place.serving_kw(demand) * serving
    return {name: x for name, x in found.items() if x.accelerators or x.more_kw}


def run_days(run: RunOption, t: int) -> float:
    """Return the days of a run in a quarter, from its planned start."""
    return overlap_days(run.start_month * DAYS_PER_MONTH, run.days, t)


def _training(
    problem: PlanningProblem, d: Decisions, place: Placement, t: int
) -> list[tuple[RunOption, float]]:
    """Return the average accelerators that train, by run; a run has no cooling option of its own."""
    busy = d.training.get((*place.key, t), 0.0)
    needed = [
        (r, r.accelerators * r.training_frac * run_days(r, t) / DAYS_PER_QUARTER)
        for r in d.runs
        if (r.place, r.system) == (place.hall, place.system)
    ]
    total = sum(x for _, x in needed)
    return [(r, busy * x / total) for r, x in needed if x] if total else []


def _of_offer(problem: PlanningProblem, d: Decisions, offer: OfferTerms) -> Iterable[Use]:
    """Yield the uses of an offer, and its committed accelerators that nobody uses."""
    workload = {x.id: x.workload_id for x in problem.demands}
    share = covered(problem, d, offer)
    found: dict[tuple[str, int], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for (who, time), x in uses(problem, d, offer.id).items():
        hours = x * HOURS_PER_MONTH * problem.periods[time[1]]
        of = found[workload.get(who, who), time[0] // MONTHS_PER_QUARTER]
        of[0] += hours
        of[1] += hours * share.get(time, 0.0)
    for t in range(problem.quarters):
        committed = in_force(d, offer, t) * HOURS_PER_QUARTER
        idle = committed - sum(y for (_, q), (_, y) in found.items() if q == t)
        if committed and idle > 1e-9 * committed:
            found[UNUSED, t] = [idle, idle]
    for (name, t), (hours, under) in sorted(found.items()):
        amounts = {Driver.HOURS: hours, Driver.COMMITTED: under}
        yield Use(name, cloud_place(offer.id), offer.accelerator, t, amounts)

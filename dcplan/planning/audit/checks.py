"""Every constraint of a plan, checked against the exact accounts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from dcplan.economics.cash_flow import cash_out_usd, debt_usd
from dcplan.facility.electrical.power import blocks_needed
from dcplan.planning.audit.accounts import Accounts, overlap_days, storage_of
from dcplan.planning.audit.check import RELATIVE, Check
from dcplan.planning.audit.existing import existing_checks
from dcplan.planning.audit.measures import measured, served
from dcplan.planning.audit.onsite import carbon_t, limit_mw, limits
from dcplan.planning.audit.packing import unplaced
from dcplan.planning.audit.rent.checks import cloud_checks
from dcplan.planning.audit.services import service_checks
from dcplan.planning.check_ids import BOUGHT, CheckId, Part
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import HallTerms, PlanningProblem
from dcplan.planning.problem.work.terms import RunOption
from dcplan.units import (
    DAYS_PER_MONTH,
    DAYS_PER_QUARTER,
    KW_PER_MW,
    MONTHS_PER_QUARTER,
    QUARTERS_PER_YEAR,
)


def all_checks(problem: PlanningProblem, d: Decisions, books: Accounts) -> list[Check]:
    """Return every check of a plan, satisfied or violated."""
    checks: list[Check] = []
    checks += _hall_checks(problem, d, books)
    checks += _site_checks(problem, d, books)
    checks += _order_checks(problem, d)
    checks += _parts_checks(problem, d, books)
    checks += _work_checks(problem, d)
    checks += cloud_checks(problem, d)
    checks += _budget_checks(problem, books)
    for limit in problem.goal.limits:
        found = measured(limit.measure, problem, d, books)
        checks.append(
            Check(
                CheckId.GOAL_LIMIT,
                "goal",
                problem.quarters - 1,
                found,
                limit.audited_most,
                subject=limit.measure,
            )
        )
    return checks


def _hall_checks(problem: PlanningProblem, d: Decisions, books: Accounts) -> Iterable[Check]:
    for (hall_id, t), a in books.halls.items():
        hall = problem.hall(hall_id)
        given = bool(problem.fleet and problem.fleet.hall == hall_id)
        units = {c.id: d.fitted.get((hall_id, c.id, t), 0) for c in hall.coolings}
        total = sum(units.values())
        yield Check(
            CheckId.HALL_UNITS, hall_id, t, total, hall.count if t >= hall.available_from else 0
        )
        yield Check(
            CheckId.RACK_POSITIONS, hall_id, t, a.racks if given else a.slots, hall.racks * total
        )
        if given:
            yield Check(
                CheckId.RACK_POSITIONS_WITH_SWITCHES,
                hall_id,
                t,
                a.slots,
                hall.racks * total,
                given=True,
            )
        yield Check(CheckId.HALL_IT_MW, hall_id, t, a.hall_kw / KW_PER_MW, hall.it_mw * total)
        yield Check(
            CheckId.LIQUID_HEAT_MW,
            hall_id,
            t,
            a.liquid_kw / KW_PER_MW,
            sum(hall.cooling(c).liquid_mw * n for c, n in units.items()),
        )
        yield Check(
            CheckId.AIR_HEAT_MW,
            hall_id,
            t,
            a.air_kw / KW_PER_MW,
            sum(hall.cooling(c).air_mw * n for c, n in units.items()),
        )
        if t:
            for c, n in units.items():
                yield Check(
                    CheckId.HALL_STAYS_FITTED,
                    f"{hall_id} {c}",
                    t,
                    d.fitted.get((hall_id, c, t - 1), 0),
                    n,
                )
        if not given:
            yield Check(
                CheckId.RACKS_WITHOUT_HALL_UNIT,
                hall_id,
                t,
                _left_over(problem, d, books, hall, t),
                0,
            )
        if a.racks and d.fabric.get(hall_id) is None:
            yield Check(CheckId.RACKS_WITHOUT_FABRIC, hall_id, t, a.racks, 0)


def _left_over(
    problem: PlanningProblem, d: Decisions, books: Accounts, hall: HallTerms, t: int
) -> int:
    racks = [(p, d.racks(problem, p.key, t)) for p in problem.placements if p.hall == hall.id]
    units = {c.id: d.fitted.get((hall.id, c.id, t), 0) for c in hall.coolings}
    network = books.halls[hall.id, t].network
    extra_kw, extra_racks = storage_of(problem, d, hall, t) if sum(units.values()) else (0.0, 0.0)
    return unplaced(
        hall, units, [r for r in racks if r[1]], network.kw + extra_kw, network.racks + extra_racks
    )


def _site_checks(problem: PlanningProblem, d: Decisions, books: Accounts) -> Iterable[Check]:
    for site in problem.sites:
        for t in range(problem.quarters):
            peak = books.site(problem, site.id, t, "facility_mw")
            yield Check(CheckId.UTILITY_MW, site.id, t, peak, limit_mw(d, site, t))
            mwh = books.site(problem, site.id, t, "facility_mwh")
            yield from (
                Check(name, at, t, x, most)
                for name, at, x, most in limits(problem, d, site, t, peak, mwh)
            )
            if t < site.block_lead:
                yield Check(
                    CheckId.BLOCKS_BEFORE_LEAD_TIME, site.id, t, d.blocks.get((site.id, t), 0), 0
                )
            new = sum(
                books.halls[h.id, t].facility_mw
                for h in problem.halls
                if h.site == site.id and h.needs_blocks
            )
            blocks = d.blocks.get((site.id, t), 0)
            yield Check(
                CheckId.POWER_BLOCKS,
                site.id,
                t,
                blocks_needed(new, site.block_mw, site.redundancy),
                blocks,
            )
        if site.max_l_per_year is not None:
            for first in range(0, problem.quarters, QUARTERS_PER_YEAR):
                year = range(first, min(first + QUARTERS_PER_YEAR, problem.quarters))
                litres = sum(books.site(problem, site.id, t, "water_l") for t in year)
                yield Check(
                    CheckId.WATER_L,
                    site.id,
                    first,
                    litres,
                    site.max_l_per_year * len(year) / QUARTERS_PER_YEAR,
                )
        if site.max_t_per_year is not None:
            for first in range(0, problem.quarters, QUARTERS_PER_YEAR):
                year = range(first, min(first + QUARTERS_PER_YEAR, problem.quarters))
                tonnes = sum(
                    carbon_t(d, site, books.site(problem, site.id, t, "facility_mwh"), t)
                    for t in year
                )
                yield Check(
                    CheckId.CARBON_T,
                    site.id,
                    first,
                    tonnes,
                    site.max_t_per_year * len(year) / QUARTERS_PER_YEAR,
                )


def _order_checks(problem: PlanningProblem, d: Decisions) -> Iterable[Check]:
    placed = {p.key: p for p in problem.placements}
    for h, c, k, t in d.ordered:
        place = placed[h, c, k]
        yield Check(CheckId.ORDER_BEFORE_RELEASE, k, t, place.first_order, t)
        yield Check(CheckId.DELIVERED_IN_HORIZON, k, t, t + place.lead, problem.quarters - 1)
    for supply in problem.supply:
        for t, limit in enumerate(supply.racks):
            ordered = sum(
                n for (_, _, k, q), n in d.ordered.items() if k == supply.system and q == t
            )
            yield Check(CheckId.SUPPLY_RACKS, supply.system, t, ordered, limit)
    yield from existing_checks(problem, d)
    yield from _share_checks(problem, d)
    if problem.fleet:
        there = sum(n * placed[key].accelerators for key, n in d.fleet.items())
        most = max((placed[key].accelerators for key in d.fleet), default=0)
        yield Check(
            CheckId.FLEET_MISSING, problem.fleet.system, 0, problem.fleet.accelerators, there
        )
        yield Check(
            CheckId.FLEET_BEYOND_RACKS,
            problem.fleet.system,
            0,
            there,
            problem.fleet.accelerators + most - 1,
        )
        yield Check(
            CheckId.FLEET_IN_PART_RACKS,
            problem.fleet.system,
            0,
            there,
            problem.fleet.accelerators,
            given=True,
        )
        for key in d.fleet:
            where = f"{key[0]} {key[2]}"
            yield Check(
                CheckId.NODES_PER_RACK,
                where,
                0,
                placed[key].nodes,
                placed[key].derived_nodes,
                given=True,
            )


def _share_checks(problem: PlanningProblem, d: Decisions) -> Iterable[Check]:
    placed = {p.key: p for p in problem.placements}
    spent = {(h, c, k, t): n * placed[h, c, k].rack_usd(t) for (h, c, k, t), n in d.ordered.items()}
    for maker, most in problem.vendor_share.items():
        own = sum(usd for (h, c, k, _), usd in spent.items() if maker in placed[h, c, k].makers)
        yield Check(
            CheckId.VENDOR_SHARE_USD, maker, problem.quarters - 1, own, most * sum(spent.values())
        )


def _parts_checks(problem: PlanningProblem, d: Decisions, books: Accounts) -> Iterable[Check]:
    for terms in problem.parts:
        for t, most in enumerate(terms.most):
            if terms.part == Part.POWER_BLOCKS:
                before = sum(n for (_, q), n in d.blocks.items() if q == t - 1)
                bought = float(sum(n for (_, q), n in d.blocks.items() if q == t) - before)
            else:
                bought = sum(books.parts_bought[h.id, t][terms.part] for h in problem.halls)
            yield Check(BOUGHT[Part(terms.part)], "all", t, bought, most)


def busiest_day(
    problem: PlanningProblem, runs: Iterable[RunOption], have: dict[int, int]
) -> list[tuple[int, int, int]]:
    """Simulate runs day by day.

    It returns (quarter, maximum accelerators in use at one time, accelerators in service).
    """
    runs = list(runs)
    result = []
    for t in range(problem.quarters):
        begin, end = t * DAYS_PER_QUARTER, (t + 1) * DAYS_PER_QUARTER
        starts = [r.start_month * DAYS_PER_MONTH for r in runs]
        moments = {begin, *(s for s in starts if begin <= s < end)}
        in_use = (
            sum(
                r.accelerators
                for r, s in zip(runs, starts, strict=True)
                if s <= moment + 1e-9 < s + r.days
            )
            for moment in moments
        )
        result.append((t, max(in_use), have[t]))
    return result


def _work_checks(problem: PlanningProblem, d: Decisions) -> Iterable[Check]:
    done = [r.job for r in d.runs]
    for job in problem.jobs:
        yield Check(CheckId.JOB_RUNS_ONCE, job.id, 0, abs(done.count(job.id) - 1), 0)
    terms = {j.id: j for j in problem.jobs}
    by_place: dict[tuple[str, str], list[RunOption]] = defaultdict(list)
    for r in d.runs:
        job = terms[r.job]
        start = r.start_month * DAYS_PER_MONTH
        yield Check(CheckId.JOB_START, r.job, 0, job.first_month, r.start_month)
        yield Check(
            CheckId.JOB_END_DAY,
            r.job,
            0,
            start + (r.finish_days if job.dated else r.days),
            job.end_day,
        )
        if r.lead_months and not r.on_cloud:
            there = _accelerators(problem, d, r.place, r.system, r.serving_quarter)
            yield Check(CheckId.SERVING_AHEAD, r.job, r.serving_quarter, r.accelerators, there)
        if job.deadline_days is not None:
            yield Check(CheckId.JOB_DAYS, r.job, 0, r.days, job.deadline_days)
        if not r.on_cloud:
            yield from _link_checks(problem, d, r)
            by_place[r.place, r.system].append(r)
    for (hall, system), runs in by_place.items():
        have = {t: _accelerators(problem, d, hall, system, t) for t in range(problem.quarters)}
        for t, in_use, there in busiest_day(problem, runs, have):
            yield Check(CheckId.ACCELERATORS_FOR_JOBS, f"{hall} {system}", t, in_use, there)
    yield from _sharing_checks(problem, d)
    yield from _demand_checks(problem, d)


def _link_checks(problem: PlanningProblem, d: Decisions, r: RunOption) -> Iterable[Check]:
    """Check that the fabric of a hall is as fast as the link of a run's step time.

    A hall without a fabric, or with one that does not connect the system, has no link.
    """
    where, t = f"{r.job} {r.place} {r.system}", r.start_month // MONTHS_PER_QUARTER
    classes = {
        p.port_class for p in problem.placements if (p.hall, p.system) == (r.place, r.system)
    }
    chosen = [o for o in problem.fabrics if (o.hall, o.id) == (r.place, d.fabric.get(r.place))]
    links = [o.speeds[c] for o in chosen for c in classes if c in o.shares]
    asked = r.link
    for name, used, there in (
        (CheckId.LINK_GBPS, asked.gbps, [x.gbps for x in links]),
        (CheckId.LINK_EXCHANGE_FRAC, asked.exchange_frac, [x.exchange_frac for x in links]),
        (CheckId.LINK_IN_NETWORK, asked.in_network, [x.in_network for x in links]),
    ):
        yield Check(name, where, t, float(used), float(min(there, default=0.0)))


def _accelerators(problem: PlanningProblem, d: Decisions, hall: str, system: str, t: int) -> int:
    return sum(
        d.racks(problem, p.key, t) * p.accelerators
        for p in problem.placements
        if (p.hall, p.system) == (hall, system)
    )


def _sharing_checks(problem: PlanningProblem, d: Decisions) -> Iterable[Check]:
    for place in problem.placements:
        for t in range(problem.quarters):
            always = d.training.get((*place.key, t), 0.0) + d.paused.get((*place.key, t), 0.0)
            busy = always + max(
                sum(d.reserved(c, place.key, t) for c in problem.demands if c.active(p))
                for p in range(len(problem.periods))
            )
            if busy:
                there = d.racks(problem, place.key, t) * place.accelerators
                yield Check(CheckId.ACCELERATORS_BUSY, "/".join(place.key), t, busy, there)
    halls = {(p.hall, p.system) for p in problem.placements}
    for hall, system in sorted(halls):
        runs = [r for r in d.runs if (r.place, r.system) == (hall, system)]
        for t in range(problem.quarters):
            need = (
                sum(
                    r.accelerators * overlap_days(r.start_month * DAYS_PER_MONTH, r.days, t)
                    for r in runs
                )
                / DAYS_PER_QUARTER
            )
            got = sum(x for (h, _, k, q), x in d.training.items() if (h, k, q) == (hall, system, t))
            if need or got:
                yield Check(
                    CheckId.TRAINING_BOOKED,
                    f"{hall} {system}",
                    t,
                    abs(need - got),
                    RELATIVE * max(1.0, need),
                )


def _demand_checks(problem: PlanningProblem, d: Decisions) -> Iterable[Check]:
    yield from service_checks(problem, d)
    for demand in problem.required:
        for t, wanted in enumerate(demand.wanted):
            given_up = d.unmet.get((demand.id, t), 0.0) if demand.unmet_usd is not None else 0.0
            yield Check(
                CheckId.DEMAND_MISSING,
                demand.id,
                t,
                wanted - given_up,
                sum(served(problem, d, demand, t)),
                subject=demand.unit,
            )


def _budget_checks(problem: PlanningProblem, books: Accounts) -> Iterable[Check]:
    finance = problem.finance
    drawn, served = debt_usd(
        books.flows, problem.quarters, finance.debt_share_frac, finance.debt_service_frac
    )
    paid = zip(cash_out_usd(books.flows, problem.quarters), drawn, served, strict=True)
    cash = [out - borrowed + back for out, borrowed, back in paid]
    if finance.budget_total_usd is not None:
        yield Check(
            CheckId.BUDGET_USD, "all", problem.quarters - 1, sum(cash), finance.budget_total_usd
        )
    if finance.budget_usd is not None:
        for t in range(problem.quarters):
            yield Check(
                CheckId.BUDGET_SO_FAR_USD,
                "all",
                t,
                sum(cash[: t + 1]),
                sum(finance.budget_usd[: t + 1]),
            )

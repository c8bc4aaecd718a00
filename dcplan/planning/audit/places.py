"""Checks of halls and sites: racks, power, heat, water and carbon of every quarter."""

from __future__ import annotations

from collections.abc import Iterable

from dcplan.facility.electrical.power import blocks_needed
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.audit.books.hall import HallQuarter, storage_of
from dcplan.planning.audit.check import Check
from dcplan.planning.audit.energy.contracts import contract_limits
from dcplan.planning.audit.energy.limits import limits
from dcplan.planning.audit.onsite import carbon_t, limit_mw
from dcplan.planning.audit.packing import unplaced
from dcplan.planning.audit.upgrades import capacity, out_of_service
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import HallTerms, PlanningProblem, SiteTerms
from dcplan.units import KW_PER_MW, QUARTERS_PER_YEAR


def hall_checks(problem: PlanningProblem, d: Decisions, books: Accounts) -> Iterable[Check]:
    """Check racks, power, heat and cooling of every hall and quarter."""
    for (hall_id, t), a in books.halls.items():
        hall = problem.hall(hall_id)
        given = bool(problem.fleet and problem.fleet.hall == hall_id)
        units = {c.id: d.fitted.get((hall_id, c.id, t), 0) for c in hall.coolings}
        total = sum(units.values())
        yield Check(
            CheckId.HALL_UNITS, hall_id, t, total, hall.count if t >= hall.available_from else 0
        )
        most, on = capacity(d, hall, t), 1.0 - out_of_service(d, hall, t)
        yield Check(
            CheckId.RACK_POSITIONS, hall_id, t, a.racks if given else a.slots, most.racks * total
        )
        if on < 1.0:
            used = (a.racks if given else a.slots) - a.stopped_slots
            room = most.racks * on * total
            yield Check(CheckId.WORKING_RACKS, hall_id, t, used, room)
        if given:
            yield Check(
                CheckId.RACK_POSITIONS_WITH_SWITCHES,
                hall_id,
                t,
                a.slots,
                most.racks * total,
                given=True,
            )
        yield Check(CheckId.HALL_IT_MW, hall_id, t, a.hall_kw / KW_PER_MW, most.it_mw * on * total)
        yield from _phases(hall, t, a, total)
        yield Check(
            CheckId.LIQUID_HEAT_MW,
            hall_id,
            t,
            a.liquid_kw / KW_PER_MW,
            most.liquid_mw * on * total
            if hall.upgrades
            else sum(hall.cooling(c).liquid_mw * n for c, n in units.items()),
        )
        yield Check(
            CheckId.AIR_HEAT_MW,
            hall_id,
            t,
            a.air_kw / KW_PER_MW,
            most.air_mw * on * total
            if hall.upgrades
            else sum(hall.cooling(c).air_mw * n for c, n in units.items()),
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
        if not given and not hall.upgrades:  # one unit: the checks above place its racks
            yield Check(
                CheckId.RACKS_WITHOUT_HALL_UNIT,
                hall_id,
                t,
                _left_over(problem, d, books, hall, t),
                0,
            )
        if a.racks and d.fabric.get(hall_id) is None:
            yield Check(CheckId.RACKS_WITHOUT_FABRIC, hall_id, t, a.racks, 0)


def _phases(hall: HallTerms, t: int, a: HallQuarter, units: int) -> Iterable[Check]:
    """Check the feeders of a hall, and the units that works have fitted out by a quarter."""
    if hall.energized_mw:
        fed = hall.energized_mw[t]
        yield Check(CheckId.HALL_ENERGIZED_MW, hall.id, t, a.hall_kw / KW_PER_MW, fed)
    if hall.fit_out_mw_per_quarter is not None:
        unit_mw = hall.start.it_mw if hall.start else hall.it_mw
        new = units - sum(hall.existing_units.values())
        quarters = max(t + 1 - hall.available_from, 0)
        most = hall.fit_out_mw_per_quarter * quarters
        yield Check(CheckId.FIT_OUT_PACE, hall.id, t, new * unit_mw, most)


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


def site_checks(problem: PlanningProblem, d: Decisions, books: Accounts) -> Iterable[Check]:
    """Check power, blocks, water and carbon of every site, and the number of sites."""
    if problem.sites_max is not None:
        used = {problem.hall(hall).site for (hall, _, _), n in d.fitted.items() if n}
        at = problem.quarters - 1
        yield Check(CheckId.SITES_USED, "all", at, len(used), problem.sites_max)
    if problem.sites_min is not None:
        at = problem.quarters - 1
        chosen = {
            problem.hall(p.hall).site for p in problem.placements if d.racks(problem, p.key, at)
        }
        yield Check(CheckId.SITES_LEAST, "all", at, problem.sites_min, len(chosen))
    for site in problem.sites:
        for t in range(problem.quarters):
            peak = books.site(problem, site.id, t, "facility_mw")
            yield Check(CheckId.UTILITY_MW, site.id, t, peak, limit_mw(d, site, t))
            mwh = books.site(problem, site.id, t, "facility_mwh")
            racks_mwh = books.site(problem, site.id, t, "racks_mwh")
            yield from (
                Check(name, at, t, x, most)
                for name, at, x, most in limits(problem, d, site, t, peak, mwh, racks_mwh)
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
        energy = {
            t: books.site(problem, site.id, t, "facility_mwh") for t in range(problem.quarters)
        }
        yield from (Check(*x) for x in contract_limits(problem, d, site, energy))
        for t, right in enumerate(site.water_right_m3):
            used_m3 = _water_m3(problem, books, site, t)
            yield Check(CheckId.WATER_RIGHT_M3, site.id, t, used_m3, right)
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


def _water_m3(problem: PlanningProblem, books: Accounts, site: SiteTerms, t: int) -> float:
    """Return the site water of a quarter with the WUE of its season [m3]."""
    season = problem.season(t)
    return sum(
        mwh * hall.cooled(*key).wue_at(season)
        for hall in problem.halls
        if hall.site == site.id
        for key, mwh in books.halls[hall.id, t].it_mwh_cooled.items()
    )

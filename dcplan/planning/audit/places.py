"""Checks of halls and sites: racks, power, heat, water and carbon of every quarter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dcplan.facility.electrical.power import blocks_needed
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.audit.books.hall import HallQuarter, storage_of
from dcplan.planning.audit.check import Check
from dcplan.planning.audit.energy.contracts import contract_limits
from dcplan.planning.audit.energy.limits import Load, limits
from dcplan.planning.audit.energy.permits import permit_limits
from dcplan.planning.audit.onsite import carbon_t, limit_mw
from dcplan.planning.audit.packing import unplaced
from dcplan.planning.audit.upgrades import capacity, out_of_service
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import HallTerms, PlanningProblem, SiteTerms
from dcplan.units import KW_PER_MW, L_PER_M3, QUARTERS_PER_YEAR


def hall_checks(problem: PlanningProblem, d: Decisions, books: Accounts) -> Iterable[Check]:
    """Check racks, power, heat and cooling of every hall and quarter."""
    for (hall_id, t), a in books.halls.items():
        hall = problem.hall(hall_id)
        given = bool(problem.fleet and problem.fleet.hall == hall_id)
        units = {c.id: d.fitted.get((hall_id, c.id, t), 0) for c in hall.coolings}
        total = sum(units.values())
        allowed = hall.count if t >= hall.available_from else 0
        yield Check(CheckId.HALL_UNITS, hall_id, t, total, allowed)
        yield from _positions(d, hall, t, a, total, given=given)
        yield from _power_and_heat(d, hall, t, a, units)
        for c, n in units.items() if t else ():
            before = d.fitted.get((hall_id, c, t - 1), 0)
            yield Check(CheckId.HALL_STAYS_FITTED, f"{hall_id} {c}", t, before, n)
        if not given and not hall.upgrades:  # one unit: the checks above place its racks
            left = _left_over(problem, d, books, hall, t)
            yield Check(CheckId.RACKS_WITHOUT_HALL_UNIT, hall_id, t, left, 0)
        if a.racks and d.fabric.get(hall_id) is None:
            yield Check(CheckId.RACKS_WITHOUT_FABRIC, hall_id, t, a.racks, 0)


def _positions(
    d: Decisions, hall: HallTerms, t: int, a: HallQuarter, units: int, *, given: bool
) -> Iterable[Check]:
    """Check the rack positions of a hall; a given fleet may fill them without its switches."""
    most, on = capacity(d, hall, t).racks * units, 1.0 - out_of_service(d, hall, t)
    used = a.racks if given else a.slots
    yield Check(CheckId.RACK_POSITIONS, hall.id, t, used, most)
    if on < 1.0:
        yield Check(CheckId.WORKING_RACKS, hall.id, t, used - a.stopped_slots, most * on)
    if given:
        name = CheckId.RACK_POSITIONS_WITH_SWITCHES
        yield Check(name, hall.id, t, a.slots, most, given=True)


def _power_and_heat(
    d: Decisions, hall: HallTerms, t: int, a: HallQuarter, units: Mapping[str, int]
) -> Iterable[Check]:
    """Check the IT power of a hall, its phases, and the heat that its cooling removes."""
    most, total = capacity(d, hall, t), sum(units.values())
    working = (1.0 - out_of_service(d, hall, t)) * total
    yield Check(CheckId.HALL_IT_MW, hall.id, t, a.hall_kw / KW_PER_MW, most.it_mw * working)
    yield from _phases(hall, t, a, total)
    liquid_mw, air_mw = most.liquid_mw * working, most.air_mw * working
    if not hall.upgrades:
        liquid_mw = sum(hall.cooling(c).liquid_mw * n for c, n in units.items())
        air_mw = sum(hall.cooling(c).air_mw * n for c, n in units.items())
    yield Check(CheckId.LIQUID_HEAT_MW, hall.id, t, a.liquid_kw / KW_PER_MW, liquid_mw)
    yield Check(CheckId.AIR_HEAT_MW, hall.id, t, a.air_kw / KW_PER_MW, air_mw)


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
    yield from _number_of_sites(problem, d)
    for site in problem.sites:
        for t in range(problem.quarters):
            yield from _power_of(problem, d, books, site, t)
        energy = {
            t: books.site(problem, site.id, t, "facility_mwh") for t in range(problem.quarters)
        }
        yield from (Check(*x) for x in contract_limits(problem, d, site, energy))
        yield from (Check(*x) for x in permit_limits(problem, d, site))
        for t, right in enumerate(site.water_right_m3):
            used_m3 = books.site(problem, site.id, t, "water_l") / L_PER_M3
            yield Check(CheckId.WATER_RIGHT_M3, site.id, t, used_m3, right)
        if site.max_l_per_year is not None:
            water_l = [books.site(problem, site.id, t, "water_l") for t in range(problem.quarters)]
            yield from _by_year(CheckId.WATER_L, site, water_l, site.max_l_per_year)
        if site.max_t_per_year is not None:
            tonnes = [carbon_t(d, site, energy[t], t) for t in energy]
            yield from _by_year(CheckId.CARBON_T, site, tonnes, site.max_t_per_year)


def _number_of_sites(problem: PlanningProblem, d: Decisions) -> Iterable[Check]:
    """Check the limits on the number of sites that a plan uses, and that it orders racks for."""
    at = problem.quarters - 1
    if problem.sites_max is not None:
        used = {problem.hall(hall).site for (hall, _, _), n in d.fitted.items() if n}
        yield Check(CheckId.SITES_USED, "all", at, len(used), problem.sites_max)
    if problem.sites_min is not None:
        chosen = {
            problem.hall(p.hall).site for p in problem.placements if d.racks(problem, p.key, at)
        }
        yield Check(CheckId.SITES_LEAST, "all", at, problem.sites_min, len(chosen))


def _power_of(
    problem: PlanningProblem, d: Decisions, books: Accounts, site: SiteTerms, t: int
) -> Iterable[Check]:
    """Check the power, energy and power blocks of a site in a quarter."""
    peak = books.site(problem, site.id, t, "facility_mw")
    load = books.site(problem, site.id, t, "load_mw")
    yield Check(CheckId.UTILITY_MW, site.id, t, load, limit_mw(d, site, t))
    mwh = books.site(problem, site.id, t, "facility_mwh")
    able_mwh = books.site(problem, site.id, t, "racks_mwh")
    if site.pauses_idle:
        able_mwh -= books.site(problem, site.id, t, "idle_mwh")
    for name, at, used, most in limits(problem, d, site, t, Load(peak, load, mwh, able_mwh)):
        yield Check(name, at, t, used, most)
    blocks = d.blocks.get((site.id, t), 0)
    if t < site.block_lead:
        yield Check(CheckId.BLOCKS_BEFORE_LEAD_TIME, site.id, t, blocks, 0)
    new_mw = sum(
        books.halls[h.id, t].facility_mw
        for h in problem.halls
        if h.site == site.id and h.needs_blocks
    )
    needed = blocks_needed(new_mw, site.block_mw, site.redundancy)
    yield Check(CheckId.POWER_BLOCKS, site.id, t, needed, blocks)


def _by_year(
    name: CheckId, site: SiteTerms, by_quarter: Sequence[float], most: float
) -> Iterable[Check]:
    """Check the sum of each year against a limit; a last year with fewer quarters has its part."""
    for first in range(0, len(by_quarter), QUARTERS_PER_YEAR):
        year = by_quarter[first : first + QUARTERS_PER_YEAR]
        yield Check(name, site.id, first, sum(year), most * len(year) / QUARTERS_PER_YEAR)

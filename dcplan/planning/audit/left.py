"""Residual value of a plan at the end of the horizon, recomputed from its payments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from dcplan.economics.cash_flow import AssetClass, Driver, Flow, FlowGroup, Sharing
from dcplan.planning.audit.upgrades import upgrade_flows
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import HallTerms, Placement, PlanningProblem
from dcplan.planning.problem.work.terms import DemandTerms

Unit = tuple[str, int]
"""Cooling of a hall, and quarter in which units of it are fitted."""
FIT_OUT, BUILDING = "cooling and fit-out", "building"
"""Cost lines of a hall."""


def left(problem: PlanningProblem, d: Decisions, flows: Iterable[Flow]) -> list[Flow]:
    """Return the value left of all capital cost, as money in at the end."""
    finance = problem.finance
    share = {
        AssetClass.RACKS: finance.hardware_residual_frac,
        AssetClass.NETWORK: finance.hardware_residual_frac,
        AssetClass.STORAGE: finance.hardware_residual_frac,
        AssetClass.POWER: finance.power_residual_frac,
    }
    found = [
        _received(problem, f.asset, f.line, f.usd * share[f.asset][f.quarter], f.site, f.shared)
        for f in flows
        if f.group is FlowGroup.CAPEX and f.asset in share
    ]
    found += [
        _received(
            problem,
            f.asset,
            f.line,
            f.usd * finance.cooling_residual_frac[f.quarter],
            f.site,
            f.shared,
        )
        for f in upgrade_flows(problem, d)
    ]
    return found + [flow for hall in problem.halls for flow in _of_hall(problem, d, hall)]


def _received(
    problem: PlanningProblem, asset: AssetClass, line: str, usd: float, site: str, use: Sharing
) -> Flow:
    end = problem.quarters - 1
    return Flow(end, FlowGroup.RESIDUAL, line, -usd, site, at_end=True, asset=asset, shared=use)


def _of_hall(problem: PlanningProblem, d: Decisions, hall: HallTerms) -> Iterator[Flow]:
    """Yield the value left of the fit-out and the building of each unit of a hall."""
    finance, valued = problem.finance, valued_units(problem, d, hall)
    for (key, t), units in valued.items():
        c, use = hall.cooling(key), Sharing(Driver.RATED, (hall.id,), serves=(t, problem.quarters))
        fit_out = units * c.fit_out_usd * finance.cooling_residual_frac[t]
        yield _received(problem, AssetClass.COOLING, FIT_OUT, fit_out, hall.site, use)
        if c.building_usd:
            shell = units * c.building_usd * finance.building_residual_frac[t]
            yield _received(problem, AssetClass.BUILDING, BUILDING, shell, hall.site, use)


def valued_units(problem: PlanningProblem, d: Decisions, hall: HallTerms) -> dict[Unit, float]:
    """Return the units of a hall whose book value counts, by cooling and quarter of the fit-out.

    Work fills the units with the highest book value first. Units without work keep a share of their
    book value.
    """
    found: dict[Unit, float] = {}
    used, empty = used_units(problem, d, hall), problem.finance.empty_hall_frac
    new = new_units(problem, d, hall)
    for unit in sorted(new, key=lambda x: _book_usd(problem, hall, x), reverse=True):
        taken = min(used, new[unit])
        used -= taken
        found[unit] = empty * new[unit] + (1.0 - empty) * taken
    return found


def used_units(problem: PlanningProblem, d: Decisions, hall: HallTerms) -> float:
    """Return the hall units that work fills at its peak, by rated power.

    It is the power of the accelerators that demands need in their peak quarter and that runs use on
    average over a quarter, in the month in which they use most, at most that of all racks of the
    hall. Without demands and runs, racks count.
    """
    racks = sum(_racks(problem, d, p) * p.rated_kw for p in problem.placements if p.hall == hall.id)
    work = _work_kw(problem, d, hall) if problem.has_work else racks
    return min(work, racks) / hall.full_kw


def _racks(problem: PlanningProblem, d: Decisions, place: Placement) -> int:
    """Return all racks of a placement, in service at any time."""
    given = sum(x.racks for x in problem.existing if x.key == place.key)
    return given + d.racks_ordered(place.key, problem.quarters - 1)


def _work_kw(problem: PlanningProblem, d: Decisions, hall: HallTerms) -> float:
    each, total = problem.accelerator_kw, 0.0
    for demand in problem.demands:
        t, wanted = problem.peak_quarter(demand), problem.demand(demand.row_id).wanted
        found = _serving(d, demand, t)
        amount = demand.share * sum(demand.each[key] * n for key, n in found)
        needed = min(1.0, wanted[t] / amount) if amount else 0.0
        total += needed * sum(each[key] * n for key, n in found if key[0] == hall.id)
    return total + _runs_kw(problem, d, hall.id)


def _runs_kw(problem: PlanningProblem, d: Decisions, hall: str) -> float:
    """Return the rated power that the runs of a hall use, in the month in which they use most."""
    by_month: dict[int, float] = defaultdict(float)
    for run in (r for r in d.runs if r.place == hall):
        for month in range(run.start_month, run.start_month + run.months):
            by_month[month] += problem.accelerator_kw[hall, run.system] * run.peak_use
    return max(by_month.values(), default=0.0)


def _serving(d: Decisions, demand: DemandTerms, t: int) -> list[tuple[tuple[str, str], float]]:
    """Return the accelerators that serve a demand in a quarter, with their hall and system."""
    return [((h, k), n) for (c, h, _, k, q), n in d.serving.items() if (c, q) == (demand.id, t)]


def new_units(problem: PlanningProblem, d: Decisions, hall: HallTerms) -> dict[Unit, int]:
    """Return the units of a hall that a plan fits, by cooling and quarter."""
    found = {}
    for c in hall.coolings:
        before = hall.existing_units.get(c.id, 0)
        for t in range(problem.quarters):
            units = d.fitted.get((hall.id, c.id, t), 0)
            if units > before:
                found[c.id, t] = units - before
            before = units
    return found


def _book_usd(problem: PlanningProblem, hall: HallTerms, unit: Unit) -> float:
    """Return the book value of one unit at the end of the horizon."""
    key, t = unit
    c, finance = hall.cooling(key), problem.finance
    return (
        c.building_usd * finance.building_residual_frac[t]
        + c.fit_out_usd * finance.cooling_residual_frac[t]
    )

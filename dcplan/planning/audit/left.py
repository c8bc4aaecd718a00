"""Residual value of a plan at the end of the horizon, recomputed from its payments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dcplan.economics.cash_flow import AssetClass, Driver, Flow, FlowGroup, Sharing
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import HallTerms, PlanningProblem

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
    return found + [flow for hall in problem.halls for flow in _of_hall(problem, d, hall)]


def _received(
    problem: PlanningProblem, asset: AssetClass, line: str, usd: float, site: str, use: Sharing
) -> Flow:
    end = problem.quarters - 1
    return Flow(
        end, FlowGroup.RESIDUAL, line, -usd, site, at_end=True, asset=asset, shared=use
    )


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

    Racks in service in the last quarter use the units with the highest book value first. Units
    without racks keep a share of their book value.
    """
    found: dict[Unit, float] = {}
    used, empty = used_units(problem, d, hall), problem.finance.empty_hall_frac
    new = _new_units(problem, d, hall)
    for unit in sorted(new, key=lambda x: _book_usd(problem, hall, x), reverse=True):
        taken = min(used, new[unit])
        used -= taken
        found[unit] = empty * new[unit] + (1.0 - empty) * taken
    return found


def used_units(problem: PlanningProblem, d: Decisions, hall: HallTerms) -> float:
    """Return the hall units that the racks of the last quarter fill, by their rated power."""
    last = problem.quarters - 1
    kw = sum(
        d.racks(problem, p.key, last) * p.rated_kw for p in problem.placements if p.hall == hall.id
    )
    return kw / hall.full_kw


def _new_units(problem: PlanningProblem, d: Decisions, hall: HallTerms) -> dict[Unit, int]:
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

"""Payments for racks, storage, networks, halls and power blocks."""

from __future__ import annotations

from dataclasses import replace

from dcplan.economics.cash_flow import AssetClass, Driver, Flow, FlowGroup, Goods, Sharing, Unit
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.audit.existing import existing_flows
from dcplan.planning.audit.left import BUILDING, FIT_OUT
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import HallTerms, PlanningProblem


def _bought(
    problem: PlanningProblem,
    quarter: int,
    asset: AssetClass,
    line: str,
    usd: float,
    site: str,
    shared: Sharing,
    goods: Goods,
) -> Flow:
    """Return the payment of a purchase with the life of its asset class."""
    owned = replace(goods, life_months=problem.finance.life_months(asset))
    return Flow(quarter, FlowGroup.CAPEX, line, usd, site, asset=asset, shared=shared, goods=owned)


def purchases(problem: PlanningProblem, d: Decisions, books: Accounts) -> list[Flow]:
    """Return the payments for what a plan buys, in the quarter of the order or of the works."""
    flows = []
    placed = {p.key: p for p in problem.placements}
    site_of = {h.id: h.site for h in problem.halls}
    given = [(key, 0, 0, n, n) for key, n in d.fleet.items()]
    orders = [
        ((h, c, k), t, placed[h, c, k].lead, n, n - d.leased_racks((h, c, k, t)))
        for (h, c, k, t), n in d.ordered.items()
    ]
    serving: dict[tuple[str, int], int] = {}  # first quarter in service by hall and order quarter
    for key, t, lead, n, own in (*given, *orders):
        place, where, first = placed[key], site_of[key[0]], t + lead
        serving[key[0], t] = min(first, serving.get((key[0], t), first))
        use = Sharing(Driver.HOURS, key, serves=(first, first + problem.finance.life_quarters))
        if own or not n:
            racks = Goods(place.system, own, Unit.RACK, key[0], first)
            line, usd = f"racks {place.system}", own * place.rack_usd(t)
            flows.append(_bought(problem, t, AssetClass.RACKS, line, usd, where, use, racks))
        usd = n * place.storage_usd
        lot = Goods("storage", 1 if usd else 0, Unit.LOT, key[0], first)
        flows.append(_bought(problem, t, AssetClass.STORAGE, "storage", usd, where, use, lot))
    for hall in problem.halls:
        if hall.storage_usd:
            use = Sharing(Driver.HOURS, (hall.id,), serves=(0, problem.quarters))
            usd, lot = hall.storage_usd, Goods("storage", 1, Unit.LOT, hall.id, 0)
            flows.append(
                _bought(problem, 0, AssetClass.STORAGE, "storage", usd, hall.site, use, lot)
            )
        for t in range(problem.quarters):
            added = books.network_usd[hall.id, t]
            if added:
                use = Sharing(Driver.PORTS, (hall.id,), serves=(t, problem.quarters))
                lot = Goods(d.fabric[hall.id], 1, Unit.LOT, hall.id, serving.get((hall.id, t), t))
                flows.append(
                    _bought(problem, t, AssetClass.NETWORK, "network", added, hall.site, use, lot)
                )
            flows += _fitting(problem, d, hall, t)
    flows += existing_flows(problem, d)
    for site in problem.sites:
        for t in range(problem.quarters):
            new = d.blocks.get((site.id, t), 0) - (d.blocks.get((site.id, t - 1), 0) if t else 0)
            if new:
                usd, blocks = new * site.block_usd, Goods("power-block", new, Unit.BLOCK, "", t)
                use = Sharing(Driver.RATED, serves=(t, problem.quarters))
                flows.append(
                    _bought(problem, t, AssetClass.POWER, "power blocks", usd, site.id, use, blocks)
                )
    return flows


def _fitting(problem: PlanningProblem, d: Decisions, hall: HallTerms, t: int) -> list[Flow]:
    """Return the payments for halls that are fitted out in a quarter, with their buildings."""
    flows, use = [], Sharing(Driver.RATED, (hall.id,), serves=(t, problem.quarters))
    for c in hall.coolings:
        before = d.fitted.get((hall.id, c.id, t - 1), 0) if t else hall.existing_units.get(c.id, 0)
        new = d.fitted.get((hall.id, c.id, t), 0) - before
        if new:
            usd, fitted = new * c.fit_out_usd, Goods(c.id, new, Unit.HALL, hall.id, t)
            cooling = AssetClass.COOLING
            flows.append(_bought(problem, t, cooling, FIT_OUT, usd, hall.site, use, fitted))
            if c.building_usd:
                usd, shell = new * c.building_usd, replace(fitted, item=BUILDING)
                building = AssetClass.BUILDING
                flows.append(_bought(problem, t, building, BUILDING, usd, hall.site, use, shell))
    return flows

"""Upgrades of halls, recomputed: their checks, the capacity of a hall, and their payments."""

from __future__ import annotations

from collections.abc import Iterable

from dcplan.economics.cash_flow import AssetClass, Driver, Flow, FlowGroup, Goods, Sharing, Unit
from dcplan.planning.audit.check import Check
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import Capacity, HallTerms, PlanningProblem
from dcplan.planning.problem.terms.upgrades import UpgradeTerms

TINY = 1e-9


def works_begin(d: Decisions, hall: HallTerms, upgrade: UpgradeTerms) -> int | None:
    """Return the quarter in which the works of an upgrade begin; None if it is not ordered."""
    found = [t for (h, u, t), n in d.upgrades.items() if (h, u) == (hall.id, upgrade.id) and n]
    return min(found, default=None)


def capacity(d: Decisions, hall: HallTerms, t: int) -> Capacity:
    """Return the capacity of a fitted unit of a hall in a quarter, also of parts out of service."""
    if hall.start is None:
        own = hall.coolings[0] if hall.coolings else None
        heat = (own.air_mw, own.liquid_mw) if own else (0.0, 0.0)
        return Capacity(hall.racks, hall.it_mw, *heat)
    now = hall.start
    for x in hall.upgrades:
        begin = works_begin(d, hall, x)
        if begin is not None and t >= begin + x.works:
            now = x.after
    return now


def out_of_service(d: Decisions, hall: HallTerms, t: int) -> float:
    """Return the share of the capacity of a hall that works take out of service in a quarter."""
    for x in hall.upgrades:
        begin = works_begin(d, hall, x)
        if begin is not None and begin <= t < begin + x.works:
            return x.out_frac
    return 0.0


def upgrade_checks(problem: PlanningProblem, d: Decisions) -> Iterable[Check]:
    """Check the order of upgrades, the racks that need one, and the racks out of service."""
    for hall in (h for h in problem.halls if h.upgrades):
        own = hall.coolings[0].id
        for t in range(problem.quarters):
            ready = d.fitted.get((hall.id, own, t), 0)
            for x in hall.upgrades:
                where = f"{hall.id} {x.id}"
                on = d.upgrades.get((hall.id, x.id, t), 0)
                before = d.upgrades.get((hall.id, x.id, t - 1), 0) if t else 0
                early = on if t < x.first else 0
                yield Check(CheckId.UPGRADE_STAYS, where, t, before, on)
                yield Check(CheckId.UPGRADE_BEFORE_LEAD_TIME, where, t, early, 0)
                yield Check(CheckId.UPGRADE_ORDER, where, t, on, ready)
                begin = works_begin(d, hall, x)
                ready = int(begin is not None and t >= begin + x.works)
                if x.cooling:
                    racks = sum(
                        d.racks(problem, p.key, t)
                        for p in problem.placements
                        if (p.hall, p.cooling) == (hall.id, x.cooling)
                    )
                    yield Check(CheckId.RACKS_BEFORE_UPGRADE, where, t, 0 if ready else racks, 0)
    for (*key, t), n in d.stopped.items():
        h, c, k = key
        out = out_of_service(d, problem.hall(h), t) > TINY
        there = d.racks(problem, (h, c, k), t) if out else 0
        yield Check(CheckId.STOPPED_RACKS, "/".join(key), t, n, there)


def upgrade_flows(problem: PlanningProblem, d: Decisions) -> list[Flow]:
    """Return the price of the upgrades of a plan, in the quarter in which their works begin."""
    flows, cooling = [], AssetClass.COOLING
    for hall in problem.halls:
        for x in hall.upgrades:
            begin = works_begin(d, hall, x)
            if begin is None:
                continue
            serves = begin + x.works
            life = problem.finance.life_months(cooling)
            lot = Goods(x.id, 1, Unit.LOT, hall.id, serves, life_months=life)
            use = Sharing(Driver.RATED, (hall.id,), serves=(begin, problem.quarters))
            line = f"upgrade {x.id}"
            flows.append(
                Flow(
                    *(begin, FlowGroup.CAPEX, line, x.usd, hall.site),
                    asset=cooling,
                    shared=use,
                    goods=lot,
                )
            )
    return flows


def upgrade_bought(flow: Flow, halls: Iterable[HallTerms]) -> UpgradeTerms | None:
    """Return the upgrade that a payment buys; None for another payment."""
    goods = flow.goods
    if goods is None or flow.asset is not AssetClass.COOLING or goods.unit is not Unit.LOT:
        return None
    found = (x for h in halls if h.id == goods.place for x in h.upgrades if x.id == goods.item)
    return next(found, None)

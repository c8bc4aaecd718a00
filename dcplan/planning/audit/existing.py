"""Existing and on-order hardware of a plan, recomputed.

It covers payments, sales, cancellations and residual values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dcplan.economics.cash_flow import AssetClass, Driver, Flow, FlowGroup, Goods, Sharing, Unit
from dcplan.economics.monthly.earlier import Earlier
from dcplan.planning.audit.check import Check
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import ExistingTerms, PlanningProblem
from dcplan.units import MONTHS_PER_QUARTER


def existing_flows(problem: PlanningProblem, d: Decisions) -> list[Flow]:
    """Return payments on arrival of orders, cancellation fees, sales and residual values.

    Cancellation fees are paid in the first quarter, sales in their own quarter.

    A sale is not negative capital cost, so no budget counts it. It is part of the residual value.
    """
    flows: list[Flow] = []
    for x in problem.existing:
        site = problem.hall(x.key[0]).site
        earlier = Sharing(Driver.EARLIER, serves=(x.first, x.last))
        use = earlier if x.in_service else Sharing(Driver.HOURS, x.key, serves=earlier.serves)
        if (x.due_usd or x.advance_usd) and x.first < problem.quarters:
            flows += _arrival(x, d.existing_racks(x, x.first), site, use)
        flows += [_gone(x, t, n, site) for (i, t), n in d.disposed.items() if i == x.id]
        last = problem.quarters - 1
        flows.append(
            Flow(
                last,
                FlowGroup.RESIDUAL,
                f"residual value {x.id}",
                -d.existing_racks(x, last) * x.end_usd,
                site,
                at_end=True,
                asset=AssetClass.EXISTING,
                shared=use,
            )
        )
    return [f for f in flows if f.usd or f.advance_usd]


def _arrival(x: ExistingTerms, kept: int, site: str, use: Sharing) -> Iterator[Flow]:
    """Yield what is due when an order arrives: for its racks, and for their storage."""
    life = (x.last - x.first) * MONTHS_PER_QUARTER
    racks = Goods(x.key[2], kept, Unit.RACK, x.key[0], x.first, life)
    lot = Goods("storage", 1, Unit.LOT, x.key[0], x.first, life)
    hardware = kept * (x.due_usd - x.storage_usd)
    for line, usd, goods, ahead in (
        (f"order {x.id}", hardware, racks, kept * x.advance_usd),
        (f"order {x.id} storage", kept * x.storage_usd, lot, 0.0),
    ):
        yield Flow(
            *(x.first, FlowGroup.CAPEX, line, usd, site),
            asset=AssetClass.EXISTING,
            shared=use,
            goods=goods,
            advance_usd=ahead,
        )


def _gone(x: ExistingTerms, t: int, n: int, site: str) -> Flow:
    """Return the fee of canceled racks, or the proceeds of sold ones."""
    racks = Goods(x.key[2], n, Unit.RACK, x.key[0])
    if x.cancel_usd is None:
        return Flow(
            *(t, FlowGroup.RESIDUAL, f"sale {x.id}", -n * x.resale_usd[t], site),
            asset=AssetClass.DISPOSAL,
            shared=Sharing(Driver.EARLIER),
            goods=racks,
        )
    return Flow(
        *(t, FlowGroup.CAPEX, f"cancellation {x.id}", n * x.cancel_usd, site),
        asset=AssetClass.OTHER,
        shared=Sharing(Driver.UNUSED),
        goods=racks,
        advance_usd=n * x.advance_usd,
    )


def earlier_hardware(problem: PlanningProblem, d: Decisions) -> tuple[Earlier, ...]:
    """Return the hardware in service before the plan, with what the plan sells of it."""
    return tuple(
        Earlier(
            x.paid_usd,
            x.age * MONTHS_PER_QUARTER,
            (x.last + x.age) * MONTHS_PER_QUARTER,
            x.racks,
            tuple((t * MONTHS_PER_QUARTER, n) for (i, t), n in d.disposed.items() if i == x.id),
        )
        for x in problem.existing
        if x.in_service
    )


def existing_checks(problem: PlanningProblem, d: Decisions) -> Iterable[Check]:
    """Check that disposed racks exist and may be disposed of in their quarter."""
    known = {x.id: x for x in problem.existing}
    for (i, t), n in d.disposed.items():
        allowed = known[i].racks if i in known and t in known[i].disposal_window else 0
        yield Check(CheckId.DISPOSAL_NOT_ALLOWED, i, t, n, allowed)
    for x in problem.existing:
        gone = sum(n for (i, _), n in d.disposed.items() if i == x.id)
        yield Check(CheckId.DISPOSAL, x.id, problem.quarters - 1, gone, x.racks)
    for hall in problem.halls:
        for cooling, units in hall.existing_units.items():
            there = d.fitted.get((hall.id, cooling, 0), 0)
            yield Check(CheckId.UNITS_FILLED_BY_ASSETS, f"{hall.id} {cooling}", 0, units, there)

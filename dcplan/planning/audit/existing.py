"""Existing and on-order hardware of a plan, recomputed.

It covers payments, sales, cancellations and residual values.
"""

from __future__ import annotations

from collections.abc import Iterable

from dcplan.economics.cash_flow import AssetClass, Driver, Flow, FlowGroup, Goods, Sharing, Unit
from dcplan.economics.monthly.earlier import Earlier
from dcplan.planning.audit.check import Check
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.units import MONTHS_PER_QUARTER


def existing_flows(problem: PlanningProblem, d: Decisions) -> list[Flow]:
    """Return payments on arrival of orders, cancellation fees, sales and residual values.

    Cancellation fees are paid in the first quarter, sales in their own quarter.

    A sale is not negative capital cost, so no budget counts it. It is part of the residual value.
    """
    flows = []
    for x in problem.existing:
        site = problem.hall(x.key[0]).site
        last = problem.quarters - 1
        earlier = Sharing(Driver.EARLIER, serves=(x.first, x.last))
        use = earlier if x.in_service else Sharing(Driver.HOURS, x.key, serves=earlier.serves)
        if (x.due_usd or x.advance_usd) and x.first < problem.quarters:
            kept = d.existing_racks(x, x.first)
            life = (x.last - x.first) * MONTHS_PER_QUARTER
            racks = Goods(x.key[2], kept, Unit.RACK, x.key[0], x.first, life)
            lot = Goods("storage", 1, Unit.LOT, x.key[0], x.first, life)
            asset, hardware = AssetClass.EXISTING, kept * (x.due_usd - x.storage_usd)
            flows += [
                Flow(
                    *(x.first, FlowGroup.CAPEX, line, usd, site),
                    asset=asset,
                    shared=use,
                    goods=goods,
                    advance_usd=ahead,
                )
                for line, usd, goods, ahead in (
                    (f"order {x.id}", hardware, racks, kept * x.advance_usd),
                    (f"order {x.id} storage", kept * x.storage_usd, lot, 0.0),
                )
            ]
        for (i, t), n in d.disposed.items():
            if i != x.id:
                continue
            sold, ahead = Sharing(Driver.EARLIER), 0.0
            if x.cancel_usd is not None:
                sold = Sharing(Driver.UNUSED)
                group, line, usd = FlowGroup.CAPEX, f"cancellation {x.id}", n * x.cancel_usd
                asset, ahead = AssetClass.OTHER, n * x.advance_usd
            else:
                group, line, usd = FlowGroup.RESIDUAL, f"sale {x.id}", -n * x.resale_usd[t]
                asset = AssetClass.DISPOSAL
            racks = Goods(x.key[2], n, Unit.RACK, x.key[0])
            flows.append(
                Flow(
                    *(t, group, line, usd, site),
                    asset=asset,
                    shared=sold,
                    goods=racks,
                    advance_usd=ahead,
                )
            )
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

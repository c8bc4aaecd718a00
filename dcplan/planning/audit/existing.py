"""Assets and orders of a plan, recomputed.

What is due, what sales and cancellations pay, what is left at the end.
"""

from __future__ import annotations

from collections.abc import Iterable

from dcplan.economics.cash_flow import AssetClass, Flow, FlowGroup
from dcplan.planning.audit.check import Check
from dcplan.planning.decisions import Decisions
from dcplan.planning.limits import CheckId
from dcplan.planning.problem.terms import PlanningProblem


def existing_flows(problem: PlanningProblem, d: Decisions) -> list[Flow]:
    """Payments for orders when they arrive, fees in the first quarter, sales in theirs.

    And worth at the end.

    A sale is no negative capital: no budget counts on it. Its value stands with the residuals.
    """
    flows = []
    for x in problem.existing:
        site = problem.hall(x.key[0]).site
        last = problem.quarters - 1
        if x.due_usd and x.first < problem.quarters:
            kept = d.existing_racks(x, x.first)
            hardware = kept * (x.due_usd - x.storage_usd)
            flows += [
                Flow(x.first, FlowGroup.CAPEX, line, usd, site, asset=AssetClass.EXISTING)
                for line, usd in (
                    (f"order {x.id}", hardware),
                    (f"order {x.id} storage", kept * x.storage_usd),
                )
            ]
        for (i, t), n in d.disposed.items():
            if i != x.id:
                continue
            if x.cancel_usd is not None:
                group, line, usd = FlowGroup.CAPEX, f"cancellation {x.id}", n * x.cancel_usd
            else:
                group, line, usd = FlowGroup.RESIDUAL, f"sale {x.id}", -n * x.resale_usd[t]
            flows.append(Flow(t, group, line, usd, site, asset=AssetClass.OTHER))
        flows.append(
            Flow(
                last,
                FlowGroup.RESIDUAL,
                f"held {x.id}",
                -d.existing_racks(x, last) * x.end_usd,
                site,
                at_end=True,
                asset=AssetClass.EXISTING,
            )
        )
    return [f for f in flows if f.usd]


def existing_checks(problem: PlanningProblem, d: Decisions) -> Iterable[Check]:
    """No more racks leave than there are, only in quarters in which they may."""
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

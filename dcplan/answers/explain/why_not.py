"""Cost change of one forced rack of a system, by cost line, or why it cannot be ordered."""

from __future__ import annotations

from dataclasses import replace

from dcplan.answers.explain.resolve import Base
from dcplan.economics.cash_flow import GROUPS, FlowGroup
from dcplan.planning.audit.measures import cost_usd
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.status import SolveStatus
from dcplan.result import Table
from dcplan.specs import explain as specs


def why_not(base: Base) -> Table:
    """Return the cost change of one forced rack of each requested system."""
    share = 1.0 / max(len(base.asked.systems), 1)
    return specs.WHY_NOT.table(_row(base, system, share) for system in base.asked.systems)


def _row(base: Base, system: str, share: float) -> specs.WhyNotRow:
    problem = base.asked.built.problem
    if any(k == system for _, _, k, _ in base.decisions.ordered):
        return _no_answer(system, "the plan already orders it")
    if system not in problem.orderable or not any(p.system == system for p in problem.placements):
        reasons = dict.fromkeys(x.reason for x in problem.excluded if x.id == system)
        return _no_answer(system, "; ".join(reasons) or "not listed in `systems:`")
    other = base.asked.solve(
        replace(problem, forced=(system,)),
        base.asked.question,
        share=share,
        near=base.solved.integer_values,
    )
    if other.audit is None:
        proved = other.status == SolveStatus.INFEASIBLE
        return _no_answer(
            system, "no plan with it exists" if proved else "no plan with it was found in time"
        )
    before, after = _by_group(base.solved), _by_group(other)
    change = {group: after[group] - before[group] for group in GROUPS}
    return specs.WhyNotRow(
        system=system,
        npv_usd=other.cost_usd - base.cost_usd,
        capex_npv_usd=change[FlowGroup.CAPEX],
        energy_npv_usd=change[FlowGroup.ENERGY],
        opex_npv_usd=change[FlowGroup.OPEX],
        cloud_npv_usd=change[FlowGroup.CLOUD],
        unserved_npv_usd=change[FlowGroup.UNSERVED],
        post_horizon_npv_usd=change[FlowGroup.POST_HORIZON],
        residual_npv_usd=change[FlowGroup.RESIDUAL],
        note=f"proven gaps {base.solved.gap_frac:.2%} and {other.gap_frac:.2%}",
    )


def _no_answer(system: str, note: str) -> specs.WhyNotRow:
    """Return the row of a system without a re-solve."""
    return specs.WhyNotRow(system, None, None, None, None, None, None, None, None, note)


def _by_group(solved: Solved) -> dict[FlowGroup, float]:
    """Return the present cost of each kind of payment, whose sum is that of the plan [USD]."""
    flows = solved.audit.books.flows if solved.audit else []
    return {g: cost_usd(solved.problem, [f for f in flows if f.group is g]) for g in GROUPS}

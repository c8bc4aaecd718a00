"""Tables of a plan's workloads: what serves them in which quarter, and the cost of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from dcplan.answers.plan.calendar import quarter_at
from dcplan.answers.plan.workloads import Cell, Workloads, per_unit
from dcplan.planning.audit.allocation import Bearer, Part, with_unused
from dcplan.planning.audit.uses import NAMES, Kind
from dcplan.result import Table
from dcplan.specs.plan import workloads as specs
from dcplan.units import HOURS_PER_QUARTER


def served_by(w: Workloads) -> Table:
    """Return the accelerators, amount, energy and cost of each workload by place and quarter."""
    usd: dict[Cell, float] = defaultdict(float)
    for (who, _, t), x in w.allocation.charges.items():
        usd[who, t] += x
    mwh: dict[Cell, float] = defaultdict(float)
    for use in w.allocation.uses:
        mwh[Bearer(use.workload, use.place, use.system), use.quarter] += use.energy_mwh
    hours, order = w.hours(), [*w.kinds, *NAMES]
    cells = sorted(
        {x for found in (usd, hours) for x, amount in found.items() if amount},
        key=lambda x: (order.index(x[0].workload), x[0].place, x[0].system, x[1]),
    )
    return specs.SERVED_BY.table(
        specs.ServedRow(
            workload=who.workload,
            kind=w.kind(who.workload).value,
            system=who.system or None,
            place=who.place or None,
            quarter=quarter_at(w.problem, t),
            average_accelerators=hours.get((who, t), 0.0) / HOURS_PER_QUARTER,
            accelerator_hours=hours.get((who, t), 0.0),
            amount=w.amounts.get((who, t)),
            unit=w.units.get(who.workload) if (who, t) in w.amounts else None,
            energy_mwh=mwh.get((who, t), 0.0),
            cost_usd=usd.get((who, t), 0.0),
        )
        for who, t in cells
    )


def workload_costs(w: Workloads) -> Table:
    """Return the present cost of each workload by part, and per run, token and hour."""
    present = w.present
    spread, total = with_unused(present), sum(sum(x.values()) for x in present.values())
    hours: dict[str, float] = defaultdict(float)
    for (who, _), x in w.hours().items():
        hours[who.workload] += x
    return specs.WORKLOAD_COSTS.table(
        specs.WorkloadCostRow(
            workload=name,
            kind=w.kind(name).value,
            present_cost_usd=sum(parts.values()),
            share_frac=sum(parts.values()) / total if total else None,
            **_columns(parts),
            with_unused_usd=spread[name],
            accelerator_hours=hours[name],
            cost_usd_per_accelerator_hour=w.usd_per_accelerator_hour(name),
            usd_per_run=sum(parts.values()) if w.kind(name) is Kind.TRAINING else None,
            usd_per_million_tokens=w.usd_per_million_tokens(name),
        )
        for name, parts in present.items()
    )


def _columns(parts: Mapping[Part, float]) -> dict[str, float]:
    return {f"{part.value}_usd": usd for part, usd in parts.items()}


def workload_costs_by_quarter(w: Workloads) -> Table:
    """Return the cost of each workload by quarter and part, and per token."""
    costs, hours = w.allocation.by_quarter_usd(), w.hours()
    accelerators: dict[tuple[str, int], float] = defaultdict(float)
    for (who, t), x in hours.items():
        accelerators[who.workload, t] += x / HOURS_PER_QUARTER
    spread = {
        (name, t): usd
        for t in range(w.problem.quarters)
        for name, usd in with_unused({n: x for (n, q), x in costs.items() if q == t}).items()
    }
    return specs.WORKLOAD_COSTS_BY_QUARTER.table(
        specs.WorkloadQuarterRow(
            workload=name,
            kind=w.kind(name).value,
            quarter=quarter_at(w.problem, t),
            average_accelerators=accelerators[name, t],
            cost_usd=sum(costs[name, t].values()),
            with_unused_usd=spread[name, t],
            **_columns(costs[name, t]),
            usd_per_million_tokens=per_unit(
                sum(costs[name, t].values()), w.million_tokens.get((name, t), 0.0)
            ),
        )
        for name in [*w.kinds, *NAMES]
        for t in range(w.problem.quarters)
        if (name, t) in costs
    )

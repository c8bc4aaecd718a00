"""Tables of a plan's workloads: what serves them in which quarter, and the cost of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from dcplan.answers.plan.calendar import quarter_at
from dcplan.answers.plan.workloads import Cell, Workloads, per_unit
from dcplan.planning.audit.allocation import Bearer, Part, with_unused
from dcplan.planning.audit.uses import Kind
from dcplan.result import Table
from dcplan.specs.plan import workloads as specs
from dcplan.units import HOURS_PER_QUARTER


def served_by(w: Workloads) -> Table:
    """Return the accelerators, amount, energy and cost of each workload by place and quarter."""
    usd, mwh, hours = w.usd(), w.energy_mwh(), w.hours()
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
        for who, t in _ordered(w, {*usd, *hours})
    )


def workload_systems(w: Workloads) -> Table:
    """Return what serves each workload over the horizon: one row for each system and place."""
    usd, mwh, hours = w.usd(), w.energy_mwh(), w.hours()
    quarters: dict[Bearer, list[int]] = defaultdict(list)
    for who, t in _ordered(w, hours):
        quarters[who].append(t)
    return specs.WORKLOAD_SYSTEMS.table(
        specs.WorkloadSystemRow(
            workload=who.workload,
            kind=w.kind(who.workload).value,
            system=who.system,
            place=who.place,
            first_quarter=quarter_at(w.problem, found[0]),
            last_quarter=quarter_at(w.problem, found[-1]),
            largest_accelerators=max(hours[who, t] for t in found) / HOURS_PER_QUARTER,
            accelerator_hours=sum(hours[who, t] for t in found),
            energy_mwh=sum(mwh[who, t] for t in found),
            present_cost_usd=sum(
                x * w.allocation.factor(t) for (of, t), x in usd.items() if of == who
            ),
        )
        for who, found in quarters.items()
    )


def _ordered(w: Workloads, cells: Iterable[Cell]) -> list[Cell]:
    names = w.names
    return sorted(
        cells if names else (),
        key=lambda x: (names.index(x[0].workload), x[0].place, x[0].system, x[1]),
    )


def workload_costs(w: Workloads) -> Table:
    """Return the present cost of each workload by part, and per run, token and hour."""
    present, taxed = w.present, w.allocation.after_tax_usd
    spread, total = with_unused(present), sum(sum(x.values()) for x in present.values())
    hours: dict[str, float] = defaultdict(float)
    for (who, _), x in w.hours().items():
        hours[who.workload] += x
    return specs.WORKLOAD_COSTS.table(
        specs.WorkloadCostRow(
            workload=name,
            kind=w.kind(name).value,
            present_cost_usd=sum(parts.values()),
            after_tax_usd=None if taxed is None else taxed.get(name, 0.0),
            usd_share_frac=sum(parts.values()) / total if total else None,
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
        for name in w.names
        for t in range(w.problem.quarters)
        if (name, t) in costs
    )

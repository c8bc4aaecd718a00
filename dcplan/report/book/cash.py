"""Cash flow: groups by quarter, discounting, net present cost, and dependent metrics."""

from __future__ import annotations

import numpy as np

from dcplan.economics.cash_flow import GROUPS, FlowGroup
from dcplan.report.book.calc import Calc
from dcplan.report.book.cost import group_rows
from dcplan.report.book.data.term import Term, added, dot, peak_of, power, sum_of
from dcplan.report.book.grid import NOWHERE, Row, Sheet, total
from dcplan.report.book.source import placements
from dcplan.units import KW_PER_MW, QUARTERS_PER_YEAR

LABELS = {
    FlowGroup.CAPEX: "capital cost",
    FlowGroup.ENERGY: "energy",
    FlowGroup.OPEX: "operating cost",
    FlowGroup.CLOUD: "rent",
    FlowGroup.UNSERVED: "value of unserved demand",
    FlowGroup.POST_HORIZON: "post-horizon cost of commitments",
    FlowGroup.RESIDUAL: "sales",
}
PER_RACK = {"accelerators": "accelerators", "racks": "slots"}
"""Quantity of each system -> the fact with its number per rack."""


def cash_sheet(c: Calc, sheet: Sheet) -> None:
    """Write payments by group, discount factors, present values and their sum."""
    length = c.source.length
    c.write_facts(sheet, NOWHERE, ("discount_rate", "used_accelerator_days"))
    growth = 1 + c.fact("discount_rate")
    groups = [
        c.keep(f"group {group}", sheet.line(label, NOWHERE, "USD", total(group_rows(c, group))))
        for group, label in LABELS.items()
    ]
    all_cash = sheet.line("all payments", NOWHERE, "USD", total(groups))
    middle = (np.arange(length) + 0.5) / QUARTERS_PER_YEAR
    years = sheet.frozen(
        "years to the middle of the quarter", NOWHERE, "years", middle, "derived", total=False
    )
    factor = sheet.line("discount factor", NOWHERE, "", power(growth, -years), total=False)
    c.keep("discount factor", factor)
    worth = sheet.line("present value", NOWHERE, "USD", all_cash * factor)
    running = sheet.line("cumulative payments", NOWHERE, "USD", all_cash.so_far(), total=False)
    c.keep("cumulative payments", running)
    for check in ("budget USD so far", "budget USD"):
        c.limit(check, "all", running, sheet)
    end = sheet.fact("residual value at the end (money received)", NOWHERE, "USD", added(c.left))
    horizon = c.source.horizon / QUARTERS_PER_YEAR
    span = sheet.fact("years to the end of the horizon", NOWHERE, "years", horizon)
    last = sheet.fact(
        "discount factor at the end of the horizon", NOWHERE, "", power(growth, -span)
    )
    npv = sheet.fact("net present cost", NOWHERE, "USD", worth.cell + end * last)
    rented = dot(c.rows[f"group {FlowGroup.CLOUD}", NOWHERE].span(), factor.span())
    rent = sheet.fact("present value of rent", NOWHERE, "USD", rented)
    for run in _runs(c):
        days, count = (
            float(c.source.result.metrics[f"{run}.{x}"].value or 0.0)
            for x in ("days", "accelerators")
        )
        label = f"accelerator-days of {run}"
        c.keep(run, sheet.fact(label, NOWHERE, "days", days * count))
    for name, row in (("end", end), ("npv", npv), ("rent", rent)):
        c.keep(name, row)


def _runs(c: Calc) -> list[str]:
    """Return the runs with a known cost."""
    costs = (k for k in c.source.result.metrics if k.startswith("train."))
    return [k.removesuffix(".cost_usd") for k in costs if k.endswith(".cost_usd")]


def live_metrics(c: Calc) -> dict[str, Term]:
    """Return every metric computed from decisions and live inputs."""

    def row(name: str) -> Row:
        return c.rows[name, NOWHERE]

    groups = (group for group in GROUPS if group is not FlowGroup.RESIDUAL)
    found = {f"cost.{group}_usd": row(f"group {group}").cell for group in groups}
    found["cost.residual_usd"] = -row(f"group {FlowGroup.RESIDUAL}").cell - row("end")
    found["cost.npv_usd"] = row("npv").cell
    found["power.peak_it_mw"] = peak_of(row("all hall rated").span()) / KW_PER_MW
    found["power.peak_electrical_mw"] = peak_of(row("all hall peak").span()) / KW_PER_MW
    found["power.peak_facility_mw"] = peak_of(row("all facility").span())
    it, mwh, water = (row(f"all {name}").cell for name in ("hall it", "hall mwh", "water"))
    if it.value:
        found["power.annual_pue"] = mwh / it
        found["water.annual_wue_l_per_kwh"] = water / (it * KW_PER_MW)
    if not c.source.keys("MWh made"):  # with plants on site, the value stays as planned
        found["carbon.operational_t"] = row("all carbon").cell
    return found | _owned(c) | _run_costs(c)


def _owned(c: Calc) -> dict[str, Term]:
    """Count accelerators and racks bought, by system, if the plan has no others."""
    found: dict[str, Term] = {}
    for name, fact in PER_RACK.items():
        by: dict[str, list[Term]] = {}
        for key in placements(c.source):
            count = sum_of(c.decision("racks bought", key).span()) * c.fact(fact, key)
            by.setdefault(f"{name}.{key[2]}", []).append(count)
        found |= {metric: added(counts) for metric, counts in by.items()}
    metrics = c.source.result.metrics
    return {k: x for k, x in found.items() if k in metrics and metrics[k].value == x.value}


def _run_costs(c: Calc) -> dict[str, Term]:
    """Allocate the owned cost to the runs by accelerator-days."""
    npv, rent = c.rows["npv", NOWHERE], c.rows["rent", NOWHERE]
    used = c.fact("used_accelerator_days")
    found: dict[str, Term] = {}
    if not used.value or npv.value == rent.value:
        return found
    for run in _runs(c):
        share = c.rows[run, NOWHERE] * (npv - rent) / used
        planned = c.source.result.metrics[f"{run}.cost_usd"].value
        if planned is not None and abs(share.value - float(planned)) <= 1e-9 * abs(share.value):
            found[f"{run}.cost_usd"] = share
    return found

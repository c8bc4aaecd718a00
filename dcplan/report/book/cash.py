"""Cashflow: groups by quarter, discounting, net present cost; and the formula of every metric that
follows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcplan.economics.cash_flow import GROUPS, FlowGroup
from dcplan.report.book.calc import Calc
from dcplan.report.book.cost import group_rows
from dcplan.report.book.grid import NOWHERE, Row, Sheet, summed, total
from dcplan.report.book.source import placements
from dcplan.units import KW_PER_MW, QUARTERS_PER_YEAR

LABELS = {
    FlowGroup.CAPEX: "capital",
    FlowGroup.ENERGY: "energy",
    FlowGroup.OPEX: "operation",
    FlowGroup.CLOUD: "rented",
    FlowGroup.UNMET: "worth of unserved demand",
    FlowGroup.AFTER: "commitments after the horizon",
    FlowGroup.RESIDUAL: "sales",
}


@dataclass(frozen=True)
class Live:
    """A metric with its formula."""

    formula: str
    value: float


def cash_sheet(c: Calc, sheet: Sheet) -> None:
    """Cash by group, factors, present values and their sum."""
    length, source = c.source.length, c.source
    c.write_facts(sheet, NOWHERE, ("discount_rate", "used_accelerator_days"))
    rate = c.fact("discount_rate", NOWHERE)
    groups = []
    for group, label in LABELS.items():
        rows = group_rows(c, group)
        row = sheet.line(label, NOWHERE, "USD", total(rows, length), summed(rows))
        groups.append(c.keep(f"group {group}", NOWHERE, row))
    all_cash = sheet.line("all payments", NOWHERE, "USD", total(groups, length), summed(groups))
    middle = (np.arange(length) + 0.5) / QUARTERS_PER_YEAR
    years = sheet.frozen(
        "years to the middle of the quarter", NOWHERE, "years", middle, "derived", total=False
    )
    factor = sheet.line(
        "discount factor",
        NOWHERE,
        "",
        (1.0 + rate.value) ** -middle,
        lambda t: f"(1 + {rate.cell()})^(-{years.at(t)})",
        total=False,
    )
    worth = sheet.line(
        "present value",
        NOWHERE,
        "USD",
        all_cash.values * factor.values,
        lambda t: f"{all_cash.at(t)} * {factor.at(t)}",
    )
    first = all_cash.span().split(":")[0]
    running = sheet.line(
        "cumulative payments",
        NOWHERE,
        "USD",
        np.cumsum(all_cash.values),
        lambda t: f"SUM({first}:{all_cash.at(t).partition('!')[2]})",
        total=False,
    )
    c.keep("cumulative payments", NOWHERE, running)
    for check in ("budget USD so far", "budget USD"):
        c.limit(check, "all", running, sheet)
    left = [
        row for (name, key), row in c.rows.items() if key == NOWHERE and name.startswith("left|")
    ]
    texts = " + ".join(r.cell() for r in left) or "0"
    end = sheet.fact(
        "left at the end (money in)", NOWHERE, "USD", sum(r.value for r in left), texts
    )
    span = sheet.fact(
        "years to the end of the horizon",
        NOWHERE,
        "years",
        source.horizon / QUARTERS_PER_YEAR,
        None,
    )
    last = sheet.fact(
        "discount factor of the end",
        NOWHERE,
        "",
        (1.0 + rate.value) ** -span.value,
        f"(1 + {rate.cell()})^(-{span.cell()})",
    )
    npv = sheet.fact(
        "net present cost",
        NOWHERE,
        "USD",
        worth.value + end.value * last.value,
        f"{worth.cell()} + {end.cell()} * {last.cell()}",
    )
    cloud = c.rows[f"group {FlowGroup.CLOUD}", NOWHERE]
    rent = sheet.fact(
        "present value of rent",
        NOWHERE,
        "USD",
        float(cloud.values @ factor.values),
        f"SUMPRODUCT({cloud.span()}, {factor.span()})",
    )
    for key in (
        k for k in source.result.metrics if k.startswith("train.") and k.endswith(".cost_usd")
    ):
        run = key.removesuffix(".cost_usd")
        days, count = (
            float(source.result.metrics[f"{run}.{x}"].value or 0.0)
            for x in ("days", "accelerators")
        )
        c.keep(
            run,
            NOWHERE,
            sheet.fact(f"accelerator-days of {run}", NOWHERE, "days", days * count, None),
        )
    for name, row in (("end", end), ("npv", npv), ("rent", rent)):
        c.keep(name, NOWHERE, row)


def live_metrics(c: Calc) -> dict[str, Live]:
    """Formula and value of every metric that follows from decisions and live inputs."""
    found: dict[str, Live] = {}

    def whole(key: str, row: Row, sign: float = 1.0) -> None:
        found[key] = Live(row.cell() if sign > 0 else f"-{row.cell()}", sign * row.value)

    for group in (g for g in GROUPS if g is not FlowGroup.RESIDUAL):
        whole(f"cost.{group}_usd", c.rows[f"group {group}", NOWHERE])
    sales, end = c.rows[f"group {FlowGroup.RESIDUAL}", NOWHERE], c.rows["end", NOWHERE]
    found["cost.residual_usd"] = Live(f"-{sales.cell()} - {end.cell()}", -sales.value - end.value)
    whole("cost.npv_usd", c.rows["npv", NOWHERE])
    for key, name in (
        ("power.peak_it_mw", "hall rated"),
        ("power.peak_electrical_mw", "hall peak"),
    ):
        row = c.rows[f"all {name}", NOWHERE]
        found[key] = Live(f"MAX({row.span()}) / 1000", float(row.values.max()) / KW_PER_MW)
    facility = c.rows["all facility", NOWHERE]
    found["power.peak_facility_mw"] = Live(f"MAX({facility.span()})", float(facility.values.max()))
    it, mwh, water = (c.rows[f"all {name}", NOWHERE] for name in ("hall it", "hall mwh", "water"))
    if it.value:
        found["power.annual_pue"] = Live(f"{mwh.cell()} / {it.cell()}", mwh.value / it.value)
        wue = water.value / (it.value * KW_PER_MW)
        found["water.annual_wue_l_per_kwh"] = Live(f"{water.cell()} / ({it.cell()} * 1000)", wue)
    carbon = c.rows["all carbon", NOWHERE]
    if not c.source.keys("MWh made"):  # stacks on site are as planned
        whole("carbon.operational_t", carbon)
    found |= _owned(c) | _runs(c)
    return found


def _owned(c: Calc) -> dict[str, Live]:
    """Accelerators and racks that were bought, by system and in all, where nothing else is held."""
    found: dict[str, Live] = {}
    metrics = c.source.result.metrics
    for name, fact in (("accelerators", "accelerators"), ("racks", "slots")):
        by: dict[str, list[tuple[Row, Row]]] = {}
        for key in placements(c.source):
            by.setdefault(key[2], []).append((c.decision("racks bought", key), c.fact(fact, key)))
        for system, pairs in by.items():
            value = sum(float(r.values.sum()) * f.value for r, f in pairs)
            text = " + ".join(f"SUM({r.span()}) * {f.cell()}" for r, f in pairs)
            metric = metrics.get(f"{name}.{system}")
            if metric is not None and metric.value == value:
                found[f"{name}.{system}"] = Live(text, value)
    return found


def _runs(c: Calc) -> dict[str, Live]:
    """A run's share of what is owned, by accelerator-days."""
    found = {}
    npv, rent, used = (
        c.rows["npv", NOWHERE],
        c.rows["rent", NOWHERE],
        c.fact("used_accelerator_days", NOWHERE),
    )
    owned = npv.value - rent.value
    for key, metric in c.source.result.metrics.items():
        if (
            not (key.startswith("train.") and key.endswith(".cost_usd"))
            or not used.value
            or not owned
        ):
            continue
        run = key.removesuffix(".cost_usd")
        days = c.rows[run, NOWHERE]
        value = days.value * owned / used.value
        if metric.value is not None and abs(value - float(metric.value)) <= 1e-9 * abs(value):
            found[key] = Live(
                f"{days.cell()} * ({npv.cell()} - {rent.cell()}) / {used.cell()}", value
            )
    return found

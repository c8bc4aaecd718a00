"""Tables of a list of cash flows: payments by time, rates, lines and conventions."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from dcplan.answers.tco.flows.modified import Modified
from dcplan.answers.tco.flows.read import CashFlows
from dcplan.answers.tco.flows.timed import Timed, unit_of_time
from dcplan.economics.discounting import discount_factor, net_present_value_usd
from dcplan.result import Table
from dcplan.specs.cost import flows as specs


def tables_of(
    read: CashFlows,
    timed: Timed,
    rate: float | None,
    rates: tuple[float, ...],
    modified: Modified | None = None,
) -> dict[str, Table]:
    """Return payments by time, rates of return, lines and conventions."""
    found = {
        specs.FLOWS.name: _flows_table(timed, rate),
        specs.RATE_ROWS.name: specs.RATE_ROWS.table(_rate_rows(timed, rates)),
    }
    if any(flow.line for flow in read.flows):
        found[specs.LINES.name] = _lines_table(read, timed, rate)
    found[specs.CONVENTIONS.name] = specs.CONVENTIONS.table(_conventions(timed, rate, modified))
    return found


def _flows_table(timed: Timed, rate: float | None) -> Table:
    sums = np.cumsum(timed.usd)
    factors = [None if rate is None else discount_factor(rate, float(t)) for t in timed.times]
    present = [None if f is None else f * float(x) for f, x in zip(factors, timed.usd, strict=True)]
    so_far = np.cumsum([x or 0.0 for x in present])
    return specs.FLOWS.table(
        specs.FlowTimeRow(
            when=name,
            time=float(timed.times[i]),
            usd=float(timed.usd[i]),
            so_far_usd=float(sums[i]),
            discount_factor=factors[i],
            present_usd=present[i],
            present_so_far_usd=None if rate is None else float(so_far[i]),
        )
        for i, name in enumerate(timed.names)
    )


def _rate_rows(timed: Timed, rates: tuple[float, ...]) -> list[specs.RateRow]:
    """Return each rate with the sign of the present value between it and the next higher one."""
    ends = [*rates[1:], 2.0 * rates[-1] + 3.0] if rates else []
    rows = []
    for rate, end in zip(rates, ends, strict=True):
        worth = net_present_value_usd(timed.usd, timed.times, 0.5 * (rate + end))
        rows.append(specs.RateRow(rate, "positive" if worth > 0.0 else "negative"))
    return rows


def _lines_table(read: CashFlows, timed: Timed, rate: float | None) -> Table:
    sums: dict[str, float] = defaultdict(float)
    present: dict[str, float] = defaultdict(float)
    for flow, time in zip(read.flows, timed.each, strict=True):
        sums[flow.line] += flow.usd
        present[flow.line] += flow.usd * discount_factor(rate or 0.0, time)
    return specs.LINES.table(
        specs.FlowLineRow(line or "without a line", usd, None if rate is None else present[line])
        for line, usd in sums.items()
    )


def _conventions(
    timed: Timed, rate: float | None, modified: Modified | None
) -> list[specs.ConventionRow]:
    """Name the day count, time 0, the rates, and the functions of a spreadsheet that agree."""
    count = "actual/365: days over 365" if timed.dated else "periodic: one step a period"
    discount = "none" if rate is None else f"{rate:.6g} a {unit_of_time(timed)}, effective"
    same = "XNPV, XIRR" if timed.dated else "NPV (periods from 1 on), IRR, MIRR"
    more = [] if modified is None else [specs.ConventionRow("modified rate", modified.text)]
    return [
        specs.ConventionRow("day count", count),
        specs.ConventionRow("time 0", timed.names[0] if timed.dated else "period 0"),
        specs.ConventionRow("discount rate", discount),
        specs.ConventionRow(
            "rate of return", f"effective, a {unit_of_time(timed)}; every rate above -100 %"
        ),
        *more,
        specs.ConventionRow("sign", "money in is positive"),
        specs.ConventionRow("Excel functions with the same value", same),
    ]

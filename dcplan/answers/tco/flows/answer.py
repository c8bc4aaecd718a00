"""``dcplan tco --cash-flows``: present value, returns, payback and multiple of a list of payments."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from dcplan.answers.tco.flows.read import FLAG, CashFlow, CashFlows, read_flows
from dcplan.economics.break_even import payback_time
from dcplan.economics.discounting import discount_factor, irr, multiple_ratio, net_present_value_usd
from dcplan.economics.ranges import Array
from dcplan.errors import EXIT_OK, InputError, Place, Problem
from dcplan.result import Metric, Result, Table
from dcplan.specs.cost import flows as specs
from dcplan.units import DAYS_PER_COMMON_YEAR, money

if TYPE_CHECKING:
    from dcplan.answers.tco.request import TcoRequest

DATED, PERIODIC = "actual-365", "periodic"
OWN = ("cash_flows", "discount_rate", "day_count", "fx")
"""Fields of the request that a list of cash flows has."""


@dataclass(frozen=True)
class Timed:
    """Payments added up by time."""

    names: tuple[str, ...]
    """Date or period of each time."""
    times: Array
    """Years or periods from time 0."""
    usd: Array
    each: tuple[float, ...]
    """Time of every payment of the list, in its order."""
    dated: bool
    """Whether times are days / 365."""


def flows_answer(request: TcoRequest) -> Result:
    """Return the answer for a list of cash flows.

    Raises
    ------
    InputError
        When the list cannot be read, a flag has no effect, or all amounts have one sign and there is
        no discount rate.
    """
    _refuse_others(request)
    read = read_flows(request.cash_flows, request.fx)
    timed = _timed(read, request.day_count)
    rate, notes = request.discount_rate, list(read.notes)
    signs = {float(np.sign(x)) for x in timed.usd if x}
    changes = len(signs) > 1
    if not changes:
        notes.append(_no_change(read, signs, rate))
    rates = irr(timed.usd, timed.times).rates if changes else ()
    metrics = _metrics(timed, rate, rates, changes=changes)
    notes += _rate_notes(timed, rates) if changes else []
    return Result(
        "tco",
        "ok",
        EXIT_OK,
        _headline(read, timed, metrics, rates, rate),
        scenario={"name": read.name, "path": read.path, "inputs_sha256": read.digest},
        metrics=metrics,
        tables=_tables(read, timed, rate, rates),
        warnings=[{"code": "note", "message": text} for text in notes],
    )


def refuse_without_list(request: TcoRequest) -> None:
    """Refuse flags that only a list of cash flows has.

    Raises
    ------
    InputError
        DC050 with each of them.
    """
    given = [
        f.name for f in fields(request) if f.name in OWN and getattr(request, f.name) != f.default
    ]
    if given:
        problems = [
            Problem(
                "DC050",
                f"has an effect only with {FLAG}",
                Place(_flag(name)),
                help=WHERE.get(name, ""),
            )
            for name in given
        ]
        raise InputError(problems)


WHERE = {
    "discount_rate": "--set finance.discount_rate=0.1",
    "fx": "fx: {EUR: 1.08} in the scenario",
}
"""Where a scenario has the same."""


def _flag(name: str) -> str:
    return {"sets": "--set", "time_limit_s": "--time-limit", "scenario": "FILE"}.get(
        name, f"--{name.replace('_', '-')}"
    )


def _refuse_others(request: TcoRequest) -> None:
    """Refuse flags of scenarios, which have no effect on a list."""
    problems = [
        Problem("DC050", f"has no effect with {FLAG}", Place(_flag(f.name)))
        for f in fields(request)
        if f.name not in (*OWN, "more_tables") and getattr(request, f.name) != f.default
    ]
    if problems:
        raise InputError(problems)


def _timed(read: CashFlows, day_count: str | None) -> Timed:
    """Add up the payments of each time, under a day count."""
    dated = read.dated if day_count is None else day_count == DATED
    if dated and not read.dated:
        cause = f"{DATED} needs dates; the list has periods"
        raise InputError(
            [Problem("DC015", cause, Place("--day-count"), help=f"--day-count {PERIODIC}")]
        )
    keys = [_name(flow) for flow in read.flows]
    names = tuple(dict.fromkeys(keys))
    first = {_name(flow): flow for flow in reversed(read.flows)}
    start = read.flows[0].day
    when = {}
    for number, name in enumerate(names):
        flow = first[name]
        if dated and flow.day is not None and start is not None:
            when[name] = (flow.day - start).days / DAYS_PER_COMMON_YEAR
        else:
            when[name] = float(number if flow.period is None else flow.period)
    sums: dict[str, float] = defaultdict(float)
    for key, flow in zip(keys, read.flows, strict=True):
        sums[key] += flow.usd
    return Timed(
        names,
        np.array([when[name] for name in names]),
        np.array([sums[name] for name in names]),
        tuple(when[key] for key in keys),
        dated,
    )


def _name(flow: CashFlow) -> str:
    return str(flow.period) if flow.day is None else flow.day.isoformat()


def _no_change(read: CashFlows, signs: set[float], rate: float | None) -> str:
    """Return why there is no rate of return; refuse a list that then has no figure at all."""
    kind = {1.0: "money in", -1.0: "money out"}.get(next(iter(signs), 0.0), "zero")
    cause = (
        f"all {len(read.flows)} amounts are {kind}: a rate of return, a payback and a multiple need "
        "money out and money in"
    )
    if rate is None or not signs:
        next_step = (
            "write money out as negative amounts; --discount-rate gives the present value alone"
        )
        raise InputError([Problem("DC015", cause, Place(read.path), help=next_step)])
    return cause


def _metrics(
    timed: Timed, rate: float | None, rates: tuple[float, ...], *, changes: bool
) -> dict[str, Metric]:
    flows, times = timed.usd, timed.times
    found: dict[str, Metric] = {}
    if rate is not None:
        found |= specs.NPV(net_present_value_usd(flows, times, rate))
    if changes:
        found |= specs.IRR(rates[0] if len(rates) == 1 else None) | specs.RATES(len(rates))
        found |= specs.MOIC(multiple_ratio(flows))
        plain, discounted = (
            (specs.PAYBACK_YEARS, specs.DISCOUNTED_YEARS)
            if timed.dated
            else (specs.PAYBACK_PERIODS, specs.DISCOUNTED_PERIODS)
        )
        invests = bool(flows[np.flatnonzero(flows)[0]] < 0.0)
        found |= plain(payback_time(flows, times) if invests else None)
        if rate is not None:
            found |= discounted(payback_time(flows, times, rate) if invests else None)
    found |= specs.PAID(-float(flows[flows < 0.0].sum()))
    return found | specs.RECEIVED(float(flows[flows > 0.0].sum()))


def _rate_notes(timed: Timed, rates: tuple[float, ...]) -> list[str]:
    """Say why a rate is missing, ambiguous, or the cost of borrowing."""
    if not rates:
        sign = "positive" if float(timed.usd[np.flatnonzero(timed.usd)[-1]]) > 0.0 else "negative"
        return [f"no rate of return: the present value is {sign} at every rate"]
    if len(rates) > 1:
        listed = ", ".join(f"{x:.4%}" for x in rates)
        return [
            f"{len(rates)} rates of return: {listed}; none of them alone is the return, and a spreadsheet "
            "shows the one near its guess: decide by the present value (--discount-rate)"
        ]
    if timed.usd[np.flatnonzero(timed.usd)[0]] > 0.0:
        return [
            "money comes in first, so the rate is the cost of borrowing, and there is no payback"
        ]
    return []


def _headline(
    read: CashFlows,
    timed: Timed,
    metrics: dict[str, Metric],
    rates: tuple[float, ...],
    rate: float | None,
) -> str:
    parts = []
    if rate is not None:
        value = float(metrics[specs.NPV.key].value or 0.0)
        parts.append(f"net present value USD {money(value)} at {rate:.4g} a {_unit(timed)}")
    if len(rates) == 1:
        parts.append(f"internal rate of return {rates[0]:.4%} a {_unit(timed)}")
    elif specs.RATES.key in metrics:
        parts.append(f"{len(rates) or 'no'} rates of return")
    return f"{read.name}: {len(read.flows)} payments, " + ", ".join(parts)


def _unit(timed: Timed) -> str:
    return "year" if timed.dated else "period"


def _tables(
    read: CashFlows, timed: Timed, rate: float | None, rates: tuple[float, ...]
) -> dict[str, Table]:
    found = {
        specs.FLOWS.name: _flows_table(timed, rate),
        specs.RATE_ROWS.name: specs.RATE_ROWS.table(_rate_rows(timed, rates)),
    }
    if any(flow.line for flow in read.flows):
        found[specs.LINES.name] = _lines_table(read, timed, rate)
    found[specs.CONVENTIONS.name] = specs.CONVENTIONS.table(_conventions(timed, rate))
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


def _conventions(timed: Timed, rate: float | None) -> list[specs.ConventionRow]:
    """Name the day count, time 0, the rates, and the functions of a spreadsheet that agree."""
    count = "actual/365: days over 365" if timed.dated else "periodic: one step a period"
    discount = "none" if rate is None else f"{rate:.6g} a {_unit(timed)}, effective"
    same = "XNPV, XIRR" if timed.dated else "NPV (periods from 1 on), IRR"
    return [
        specs.ConventionRow("day count", count),
        specs.ConventionRow("time 0", timed.names[0] if timed.dated else "period 0"),
        specs.ConventionRow("discount rate", discount),
        specs.ConventionRow(
            "rate of return", f"effective, a {_unit(timed)}; every rate above -100 %"
        ),
        specs.ConventionRow("sign", "money in is positive"),
        specs.ConventionRow("Excel functions with the same value", same),
    ]

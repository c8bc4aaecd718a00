"""``dcplan tco --cash-flows``: present value, returns, payback and multiple of a list of payments."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

from dcplan.answers.tco.flows.modified import RATES as MIRR_RATES
from dcplan.answers.tco.flows.modified import modified_of
from dcplan.answers.tco.flows.read import FLAG, CashFlows, read_flows
from dcplan.answers.tco.flows.tables import tables_of
from dcplan.answers.tco.flows.timed import Timed, timed_of, unit_of_time
from dcplan.economics.break_even import payback_time
from dcplan.economics.discounting import irr, multiple_ratio, net_present_value_usd
from dcplan.errors import EXIT_OK, InputError, Place, Problem
from dcplan.result import Metric, Result
from dcplan.specs.cost import flows as specs
from dcplan.units import money

if TYPE_CHECKING:
    from dcplan.answers.tco.request import TcoRequest

OWN = ("cash_flows", "discount_rate", *MIRR_RATES, "day_count", "fx")
"""Fields of the request that a list of cash flows has."""


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
    timed = timed_of(read, request.day_count)
    rate, notes = request.discount_rate, list(read.notes)
    signs = {float(np.sign(x)) for x in timed.usd if x}
    changes = len(signs) > 1
    if not changes:
        notes.append(_no_change(read, signs, rate))
    rates = irr(timed.usd, timed.times).rates if changes else ()
    metrics = _metrics(timed, rate, rates, changes=changes)
    modified = modified_of(timed, request.finance_rate, request.reinvestment_rate)
    if modified is not None:
        metrics |= modified.metrics
        notes += modified.notes
    notes += _rate_notes(timed, rates) if changes else []
    return Result(
        "tco",
        "ok",
        EXIT_OK,
        _headline(read, timed, metrics, rates, rate),
        scenario={"name": read.name, "path": read.path, "inputs_sha256": read.digest},
        metrics=metrics,
        tables=tables_of(read, timed, rate, rates, modified),
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
        parts.append(f"net present value USD {money(value)} at {rate:.4g} a {unit_of_time(timed)}")
    if len(rates) == 1:
        parts.append(f"internal rate of return {rates[0]:.4%} a {unit_of_time(timed)}")
    elif specs.RATES.key in metrics:
        parts.append(f"{len(rates) or 'no'} rates of return")
    return f"{read.name}: {len(read.flows)} payments, " + ", ".join(parts)

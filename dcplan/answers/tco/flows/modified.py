"""The modified rate of return of a list of cash flows."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.answers.tco.flows.timed import Timed, unit_of_time
from dcplan.economics.discounting import modified_rate
from dcplan.errors import InputError, Place, Problem
from dcplan.result import Metric
from dcplan.specs.cost import flows as specs

RATES = ("finance_rate", "reinvestment_rate")
"""Fields of the request with the rates; one needs the other."""


@dataclass(frozen=True)
class Modified:
    """The modified rate of return, with what it assumes."""

    metrics: dict[str, Metric]
    notes: tuple[str, ...]
    text: str
    """Both rates, for the table of conventions."""


def modified_of(timed: Timed, finance: float | None, reinvestment: float | None) -> Modified | None:
    """Return the modified rate of return; None where no rates are given for it.

    Raises
    ------
    InputError
        When only one of both rates is given.
    """
    if finance is None and reinvestment is None:
        return None
    if finance is None or reinvestment is None:
        lacks, given = RATES if finance is None else reversed(RATES)
        flag, other = (f"--{name.replace('_', '-')}" for name in (lacks, given))
        cause = f"{other} needs it: the modified rate of return has two rates"
        problem = Problem("DC003", cause, Place(flag), help=f"{flag} 0.08")
        raise InputError([problem])
    unit = unit_of_time(timed)
    text = f"{finance:.6g} for money out, {reinvestment:.6g} for money in, a {unit}, effective"
    if len(timed.times) < 2:
        return Modified(specs.MIRR(None), ("all payments are at one time: no modified rate",), text)
    rate = modified_rate(timed.usd, timed.times, finance, reinvestment)
    notes = () if rate is not None else ("a modified rate needs money out and money in",)
    return Modified(specs.MIRR(rate), notes, text)

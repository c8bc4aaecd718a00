"""Cost of rent: hours, lost goodput, and commitments, which are paid whether used or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dcplan.economics.ranges import Array, Value, above, as_value, within

ON_DEMAND = "on demand"


def accelerators_usd_per_month(
    accelerators: Value, usd_per_accelerator_hour: Value, hours_per_month: float
) -> Value:
    """Price a month of rent, with the 720 or 730 hours of the price list.

    Examples
    --------
    >>> accelerators_usd_per_month(4096, 2.0, 720)
    5898240.0
    """
    count, rate = (
        within("accelerators", accelerators, 0.0),
        within("usd_per_accelerator_hour", usd_per_accelerator_hour, 0),
    )
    return as_value(count * rate * above("hours_per_month", hours_per_month))


def goodput_loss_usd(accelerators_usd: Value, goodput_frac: Value) -> Value:
    r"""Return the part of a rent without progress: :math:`S(1-g)` of a rent S.

    Parameters
    ----------
    accelerators_usd : float or array
        Rent of the accelerators. [USD]
    goodput_frac : float or array
        Useful time divided by paid time, above 0, at most 1. [-]

    Examples
    --------
    >>> round(goodput_loss_usd(100.0, 0.8), 6)
    20.0
    """
    good = above("goodput_frac", within("goodput_frac", goodput_frac, high=1.0))
    return as_value(within("accelerators_usd", accelerators_usd, 0.0) * (1.0 - good))


@dataclass(frozen=True)
class Usage:
    """Units of one thing used in each hour, and their on-demand price."""

    name: str
    quantity: Value
    """Units in the hour: instances, vCPU, GB … A number, or an array by hour."""
    on_demand_usd: float
    """Per unit and hour."""


@dataclass(frozen=True)
class Reservation:
    """Reserved units of one usage, paid in every hour at their amortized price."""

    name: str
    usage: str
    quantity: float
    usd_per_unit_h: float


@dataclass(frozen=True)
class SavingsPlan:
    """A commitment to spend an amount in USD per hour, at its own rates."""

    name: str
    usd_per_h: float
    rates_usd: Mapping[str, float]
    """Usage name -> price of a unit and hour. Other usages are not covered."""
    specific: bool = False
    """Bound to a family (EC2 Instance Savings Plan), so applied before general ones (Compute
    Savings Plan)."""


@dataclass(frozen=True)
class Covered:
    """Part of a usage paid by one commitment, or on demand."""

    usage: str
    by: str
    quantity: Value
    usd: Value


@dataclass(frozen=True)
class Coverage:
    """Coverage of usage by commitments; all values are for one hour, or arrays by hour."""

    rows: tuple[Covered, ...]
    purchased_usd: dict[str, float]
    """Commitment -> USD of one hour, used or not."""
    used_usd: dict[str, Value]
    unused_usd: dict[str, Value]
    on_demand_usd: Value
    """Usage that no commitment covers."""

    @property
    def total_usd(self) -> Value:
        """Return the cost of all commitments plus on-demand use."""
        return as_value(np.asarray(self.on_demand_usd) + sum(self.purchased_usd.values()))


def cover(
    usages: Sequence[Usage],
    reservations: Sequence[Reservation] = (),
    plans: Sequence[SavingsPlan] = (),
) -> Coverage:
    """Pay the usage of each hour from commitments by the rule of AWS, and the rest on demand.

    Reservations come first, then specific plans, then general plans; the rest is on demand. Among
    plans of a kind the pair of plan and usage with the highest saving over the on-demand
    price comes first, of equal ones that with the lowest rate. Nothing is carried from one hour to
    the next.

    Parameters
    ----------
    usages : sequence of Usage
        With quantities of one hour, or arrays of the same hours; at least 0.
    reservations : sequence of Reservation
        Each for one usage, applied in this order.
    plans : sequence of SavingsPlan
        In any order.

    Raises
    ------
    ValueError
        If a name occurs twice, or a commitment names an unknown usage.

    References
    ----------
    .. [1] AWS, Savings Plans User Guide, "Understanding how Savings Plans apply to your AWS usage".

    Examples
    --------
    >>> hour = cover([Usage("gpu", 4.0, 1.0)], plans=[SavingsPlan("1y", 1.40, {"gpu": 0.70})])
    >>> [(row.by, row.quantity, row.usd) for row in hour.rows], hour.total_usd
    ([('1y', 2.0, 1.4), ('on demand', 2.0, 2.0)], 3.4)
    """
    _check(usages, reservations, plans)
    left: dict[str, Array] = {
        u.name: within(f"quantity of {u.name}", u.quantity, 0.0) for u in usages
    }
    price = {u.name: u.on_demand_usd for u in usages}
    room: dict[str, Array] = {
        r.name: np.asarray(r.quantity * r.usd_per_unit_h) for r in reservations
    }
    room |= {p.name: np.asarray(p.usd_per_h) for p in plans}
    purchased = {name: float(usd) for name, usd in room.items()}
    rows: list[Covered] = []
    pairs = [
        (plan.specific, (rate / price[usage] if price[usage] else 1.0), rate, plan.name, usage)
        for plan in plans
        for usage, rate in plan.rates_usd.items()
    ]
    pairs.sort(key=lambda pair: (not pair[0], *pair[1:3]))
    steps = [(r.name, r.usage, r.usd_per_unit_h, r.quantity) for r in reservations]
    steps += [(name, usage, rate, np.inf) for _, _, rate, name, usage in pairs]
    for by, usage, rate, most in steps:
        reach = np.minimum(most, room[by] / rate) if rate > 0.0 else np.asarray(most)
        quantity = np.minimum(left[usage], reach)
        left[usage] = left[usage] - quantity
        room[by] = np.maximum(room[by] - quantity * rate, 0.0)
        rows.append(Covered(usage, by, as_value(quantity), as_value(quantity * rate)))
    rest = [
        Covered(name, ON_DEMAND, as_value(q), as_value(q * price[name])) for name, q in left.items()
    ]
    unused = {name: as_value(usd) for name, usd in room.items()}
    return Coverage(
        tuple(row for row in (*rows, *rest) if np.any(np.asarray(row.quantity) > 0.0)),
        purchased,
        {name: as_value(purchased[name] - np.asarray(usd)) for name, usd in unused.items()},
        unused,
        as_value(sum((np.asarray(row.usd) for row in rest), np.zeros(()))),
    )


def _check(
    usages: Sequence[Usage], reservations: Sequence[Reservation], plans: Sequence[SavingsPlan]
) -> None:
    commitments = [r.name for r in reservations] + [p.name for p in plans]
    for what, names in (("usage", [u.name for u in usages]), ("commitment", commitments)):
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            msg = f"the {what} {twice[0]} is given twice"
            raise ValueError(msg)
    known = {u.name for u in usages}
    for name, reached in [(r.name, {r.usage}) for r in reservations] + [
        (p.name, set(p.rates_usd)) for p in plans
    ]:
        if reached - known:
            msg = f"{name} names an unknown usage: {sorted(reached - known)[0]}"
            raise ValueError(msg)
    within("usd_per_h", [p.usd_per_h for p in plans], 0.0)
    within("quantity", [r.quantity for r in reservations], 0.0)
    rates = [rate for p in plans for rate in p.rates_usd.values()]
    within(
        "a price",
        [u.on_demand_usd for u in usages] + [r.usd_per_unit_h for r in reservations] + rates,
        0.0,
    )


def amortized_usd_per_h(
    upfront_usd: Value, recurring_usd: Value, payments: float, hours: float
) -> Value:
    """Return the price of an hour including all costs of its commitment.

    .. math:: p = (U + n R) / H

    Parameters
    ----------
    upfront_usd, recurring_usd : float or array
        First payment U, and each later payment R; at least 0. [USD]
    payments : float
        Number n of later payments.
    hours : float
        Hours H of the commitment, above 0. [h]

    References
    ----------
    .. [1] FinOps Foundation, FOCUS specification: EffectiveCost amortizes upfront payments.

    Examples
    --------
    >>> round(amortized_usd_per_h(220_000, 18_333.33, 12, 8_760), 2)
    50.23
    """
    paid = (
        within("upfront_usd", upfront_usd, 0.0)
        + within("recurring_usd", recurring_usd, 0.0) * payments
    )
    return as_value(paid / above("hours", hours))

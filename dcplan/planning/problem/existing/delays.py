"""Delays of orders, and what they add to the delays before a job."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from dcplan.catalog.schema import Parameter
from dcplan.inputs.log import InputLog
from dcplan.planning.problem.existing.places import entries_of
from dcplan.planning.problem.terms import HallTerms
from dcplan.reliability.job import Bounds
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Asset, Order
from dcplan.units import DAYS_PER_QUARTER


def delay_of(order: Order, log: InputLog) -> Bounds:
    """Return the delivery delay of an order in days: its own, or the catalog's."""
    if order.slip_days is None:
        low, high = log.catalog.get("reliability", "delivery-slip-days", Parameter).value.bounds
        return low, log.parameter("reliability", "delivery-slip-days"), high
    s = order.slip_days
    names = ("p10", "p50", "p90")
    low, mid, high = (log.take(f"orders.{order.id}.slip_days.{n}", getattr(s, n)) for n in names)
    return low, mid, high


def delays(
    late: dict[tuple[str, str], dict[str, Bounds]],
    question: Question,
    halls: dict[str, HallTerms],
    orderable: Iterable[str],
    log: InputLog,
) -> dict[tuple[str, str], dict[str, Bounds]]:
    """Return the delays before a job, by hall and system.

    If a job can use no new racks, only the delays of the orders count.
    """
    result, known = dict(late), set(orderable)
    groups: dict[tuple[str, str], list[Asset | Order]] = defaultdict(list)
    for item in entries_of(question, halls):
        groups[item.hall, item.system.id].append(item.entry)
    for place, entries in groups.items():
        if place[1] in known:
            continue
        rests = [_rest(delay_of(x, log)) for x in entries if isinstance(x, Order)]
        low, mid, high = (
            (max(values) for values in zip(*rests, strict=True)) if rests else (0.0, 0.0, 0.0)
        )
        result[place] = {"delivery": (low, mid, high)} if high > 0 else {}
    return result


def _rest(delay: Bounds) -> Bounds:
    """Return the delay beyond the integer number of quarters that the plan already adds."""
    whole = DAYS_PER_QUARTER * (delay[1] // DAYS_PER_QUARTER)
    low, mid, high = (max(x - whole, 0.0) for x in delay)
    return low, mid, high

"""Leases of racks in the workbook: racks at their price, times the payment of the lease."""

from __future__ import annotations

from collections.abc import Iterator

from dcplan.planning.audit.rent.leases import lease_line
from dcplan.report.book.calc import Calc
from dcplan.report.book.data.amounts import LEASED, TO_LESSOR
from dcplan.report.book.data.term import Operand, Term
from dcplan.report.book.grid import Key
from dcplan.report.book.source import Line


def lease_payments(c: Calc) -> Iterator[tuple[Line, Term]]:
    """Yield the payments of each lease by line and site: in the horizon and after it.

    A month costs its share of the price at the order; the amounts are leased racks, each with its
    price at the order over the price of today.
    """
    found: dict[Line, Term] = {}
    for key in c.source.keys(LEASED):
        hall, cooling, text = key
        group, system, lease = text.split(" ")
        rate = (lease, "", "")
        if ("lease_frac", rate) not in c.facts:
            c.write_facts(c.cost, rate, ("lease_frac",))
        price = c.fact("price_usd", (hall, cooling, system))
        paid = c.decision(LEASED, key) * price * c.fact("lease_frac", rate) * c.fact("months")
        line = group, lease_line(system, lease), hall.partition("/")[0]
        found[line] = found[line] + paid if line in found else paid
    yield from found.items()


def paid_racks(c: Calc, key: Key) -> Operand:
    """Return the racks that the plan pays: those of its orders that no lessor pays."""
    bought = c.decision("racks bought", key)
    return bought - c.decision(TO_LESSOR, key) if key in c.source.keys(TO_LESSOR) else bought

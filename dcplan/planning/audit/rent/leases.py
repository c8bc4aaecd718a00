"""Payments for leased racks, and the check that only ordered racks are leased."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from dcplan.economics.cash_flow import AssetClass, Driver, Flow, FlowGroup, Goods, Sharing, Unit
from dcplan.planning.audit.check import Check
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.units import MONTHS_PER_QUARTER


def lease_flows(problem: PlanningProblem, d: Decisions) -> list[Flow]:
    """Return the payments of every lease, from the first quarter in service to the return.

    They include payments after the horizon.
    """
    terms, flows = {x.id: x for x in problem.finance.leases}, []
    for (h, c, k, lease, q), n in sorted(d.leased.items()):
        place, offer = problem.placed[h, c, k], terms[lease]
        first = q + place.lead
        use = Sharing(Driver.HOURS, place.key, serves=(first, first + offer.quarters))
        each = n * place.rack_usd(q) * offer.usd_frac_per_month * MONTHS_PER_QUARTER
        months = Goods(k, n * MONTHS_PER_QUARTER, Unit.RACK_MONTH, h)
        flows += [
            Flow(
                t,
                FlowGroup.OPEX if t < problem.quarters else FlowGroup.POST_HORIZON,
                lease_line(k, lease),
                each,
                problem.hall(h).site,
                asset=AssetClass.LEASED,
                term=lease,
                shared=use,
                goods=months,
            )
            for t in range(first, first + offer.quarters)
        ]
    return flows


def lease_line(system: str, lease: str) -> str:
    """Return the cost line of the racks of a system under a lease.

    Examples
    --------
    >>> lease_line("dgx-h200", "bank-36")
    'racks dgx-h200 on lease bank-36'
    """
    return f"racks {system} on lease {lease}"


def lease_checks(problem: PlanningProblem, d: Decisions) -> Iterator[Check]:
    """Yield the checks that the leased racks of an order are among its racks, under its offers."""
    offered = {x.id: x for x in problem.finance.leases}
    of_order: dict[tuple[str, str, str, int], int] = defaultdict(int)
    for (h, c, k, lease, q), n in d.leased.items():
        of_order[h, c, k, q] += n
        covered = n if lease in offered and offered[lease].covers(k) else 0
        yield Check(CheckId.LEASE_OFFERED, k, q, n, covered)
    for order, n in of_order.items():
        yield Check(CheckId.LEASED_RACKS, order[2], order[3], n, d.ordered.get(order, 0))

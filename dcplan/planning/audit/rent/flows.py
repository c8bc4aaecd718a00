"""Payments of rented accelerators, recomputed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from dcplan.economics.cash_flow import AssetClass, Driver, Flow, FlowGroup, Goods, Sharing, Unit
from dcplan.inputs.cloud_prices import OfferTerms, cloud_place, row_of
from dcplan.planning.audit.rent.extras import extra_flows
from dcplan.planning.audit.rent.use import (
    covered,
    in_force,
    months_by_use,
    rented_hours,
    reserved_by_time,
    use_by_time,
    uses,
)
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.units import HOURS_PER_MONTH, HOURS_PER_QUARTER, MONTHS_PER_QUARTER

TINY_USD = 1e-3
"""Smaller amounts are rounding errors of a month that commitments cover."""


def cloud_flows(problem: PlanningProblem, d: Decisions) -> list[Flow]:
    """Return payments for on-demand use, by use, and for commitments, used or not.

    They include payments after the horizon, and all costs that accompany rent.
    """
    flows = [flow for offer in problem.offers for flow in _by_use(problem, d, offer)]
    flows += [flow for offer in problem.offers for flow in _committed(problem, d, offer)]
    return flows + extra_flows(
        problem, reserved_by_time(problem, d), flows, months_by_use(problem, d)
    )


def _by_use(problem: PlanningProblem, d: Decisions, offer: OfferTerms) -> list[Flow]:
    share = covered(problem, d, offer)
    paid: dict[tuple[str, int], float] = defaultdict(float)
    hours: dict[tuple[str, int], float] = defaultdict(float)
    for (who, time), x in uses(problem, d, offer.id).items():
        t = time[0] // MONTHS_PER_QUARTER
        each = x * HOURS_PER_MONTH * problem.periods[time[1]] * (1.0 - share.get(time, 0.0))
        hours[who, t] += each
        paid[who, t] += each * offer.usd_per_accelerator_hour[t]
    return [
        Flow(
            t,
            FlowGroup.CLOUD,
            f"{who} on {offer.id}",
            usd,
            asset=AssetClass.OTHER,
            offer=offer.id,
            term=offer.term,
            shared=Sharing(Driver.USER, user=who),
            goods=Goods(row_of(offer.id), hours[who, t], Unit.ACCELERATOR_HOUR, offer.region),
        )
        for (who, t), usd in paid.items()
        if usd > TINY_USD
    ]


def _committed(problem: PlanningProblem, d: Decisions, offer: OfferTerms) -> list[Flow]:
    share = covered(problem, d, offer)
    used: dict[int, float] = defaultdict(float)  # hours that commitments cover
    for (month, p), x in use_by_time(problem, d, offer).items():
        each = x * HOURS_PER_MONTH * problem.periods[p]
        used[month // MONTHS_PER_QUARTER] += each * share.get((month, p), 0.0)
    terms = {c.term: c for c in offer.committed}
    flows = []
    for (o, term, t), nodes in d.committed.items():
        if o != offer.id:
            continue
        paid = nodes * offer.node_accelerators * HOURS_PER_QUARTER
        flows += [
            Flow(
                q,
                FlowGroup.CLOUD if q < problem.quarters else FlowGroup.POST_HORIZON,
                f"{offer.id} {term}",
                paid * terms[term].usd_per_accelerator_hour[t],
                asset=AssetClass.OTHER,
                offer=offer.id,
                term=term,
                shared=Sharing(Driver.COMMITTED, serves=(t, t + terms[term].quarters)),
                goods=Goods(
                    row_of(offer.id),
                    paid,
                    Unit.ACCELERATOR_HOUR,
                    offer.region,
                    serves_from=t,
                    used=_used(d, offer, q, paid, used),
                ),
            )
            for q in range(t, t + terms[term].quarters)
        ]
    return flows


def _used(
    d: Decisions, offer: OfferTerms, t: int, paid_h: float, used_h: Mapping[int, float]
) -> float:
    """Return the used hours of a commitment, in proportion to all commitments of its offer."""
    committed_h = in_force(d, offer, t) * HOURS_PER_QUARTER
    return paid_h * min(1.0, used_h.get(t, 0.0) / committed_h)


def rented_usd_per_hour(problem: PlanningProblem, d: Decisions, place: str) -> float:
    """Return the cost of an accelerator-hour of an offer in this plan [USD/h].

    It is the sum of all payments divided by the total use.
    """
    offer = next(o for o in problem.offers if cloud_place(o.id) == place)
    hours = rented_hours(problem, d, offer.id)
    return (
        sum(f.usd for f in cloud_flows(replace(problem, offers=(offer,)), d)) / hours
        if hours
        else 0.0
    )

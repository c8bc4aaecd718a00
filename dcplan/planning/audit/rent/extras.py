"""Costs that accompany the rent of a plan, recomputed from its use and its payments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from dcplan.economics.cash_flow import AssetClass, Driver, Flow, FlowGroup, Goods, Sharing, Unit
from dcplan.inputs.cloud_prices import Extra, OfferTerms
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.units import MONTHS_PER_QUARTER

LEAST_ACCELERATORS = 0.05
"""Smaller amounts are rounding errors of the solver: they do not make a quarter one with rent."""


def extra_flows(
    problem: PlanningProblem,
    reserved: Mapping[tuple[str, tuple[int, int]], float],
    rent: Sequence[Flow],
    months: Mapping[tuple[str, str, int], float],
) -> list[Flow]:
    """Return support, storage, network, CPU nodes, set-up, debugging and egress.

    Parameters
    ----------
    problem : PlanningProblem
        Offers with the costs that accompany their rent.
    reserved : mapping
        Accelerators by offer, and month and period of the week.
    rent : sequence of Flow
        Payments for hours by use and for commitments.
    months : mapping
        Accelerator-months by offer, workload and quarter.
    """
    most: dict[tuple[str, int], float] = defaultdict(float)
    for (offer, (month, _)), x in reserved.items():
        t = month // MONTHS_PER_QUARTER
        most[offer, t] = max(most[offer, t], x)
    offers = {o.id: o for o in problem.offers}
    found = [flow for key, x in months.items() for flow in _by_use(offers[key[0]], *key[1:], x)]
    found += _support(offers, [*rent, *found])
    found += [flow for o in problem.offers for flow in _set_up(o, most, problem.quarters)]
    return found + _by_time(problem, most)


def _flow(
    t: int, extra: Extra, offer: OfferTerms, usd: float, goods: Goods, shared: Sharing, term: str
) -> Flow:
    return Flow(
        t,
        FlowGroup.CLOUD,
        f"{extra} of {offer.id}",
        usd,
        asset=AssetClass.OTHER,
        offer=offer.id,
        term=term,
        shared=shared,
        goods=goods,
    )


def _by_use(offer: OfferTerms, who: str, t: int, months: float) -> list[Flow]:
    """Return the costs in proportion to the accelerators in use."""
    user = Sharing(Driver.USER, user=who)
    return [
        _flow(
            t,
            extra,
            offer,
            usd * months,
            Goods(extra.value, months, Unit.ACCELERATOR_MONTH, offer.region),
            user,
            offer.term,
        )
        for extra, usd in offer.extras.by_use.items()
        if usd * months > 0.0
    ]


def _support(offers: Mapping[str, OfferTerms], paid: Sequence[Flow]) -> list[Flow]:
    """Return the support of each payment, with its quarter, users and term."""
    return [
        replace(
            flow,
            line=f"{Extra.SUPPORT} of {flow.offer}",
            usd=share * flow.usd,
            goods=Goods(Extra.SUPPORT.value, 1.0, Unit.LOT, offers[flow.offer].region),
        )
        for flow in paid
        if (share := offers[flow.offer].extras.support_frac)
    ]


def _set_up(offer: OfferTerms, most: Mapping[tuple[str, int], float], quarters: int) -> list[Flow]:
    """Return the set-up of accelerators above the largest number in use before."""
    done, found = 0.0, []
    for t in range(quarters):
        more = max(most.get((offer.id, t), 0.0) - done, 0.0)
        done += more
        usd = more * offer.extras.set_up_usd
        if usd > 0.0:
            goods = Goods(Extra.SET_UP.value, more, Unit.ACCELERATOR, offer.region)
            found.append(_flow(t, Extra.SET_UP, offer, usd, goods, Sharing(Driver.HOURS), ""))
    return found


def _by_time(problem: PlanningProblem, most: Mapping[tuple[str, int], float]) -> list[Flow]:
    """Return debugging and egress of each quarter with rent, at the costs of the most expensive offer."""
    found = []
    for t in range(problem.quarters):
        used = [o for o in problem.offers if most.get((o.id, t), 0.0) > LEAST_ACCELERATORS]
        if not used:
            continue
        top = max(used, key=lambda o: o.extras.fixed_usd_per_month)
        for extra, usd in top.extras.by_time.items():
            if usd:
                goods = Goods(extra.value, float(MONTHS_PER_QUARTER), Unit.MONTH, top.region)
                paid = usd * MONTHS_PER_QUARTER
                found.append(_flow(t, extra, top, paid, goods, Sharing(Driver.HOURS), ""))
    return found

"""Cost of a plan by workload: every payment is shared, so that the parts sum to the whole."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from dcplan.economics.cash_flow import (
    EQUIPMENT,
    AssetClass,
    Driver,
    Flow,
    FlowGroup,
    quarterly_charge_usd,
)
from dcplan.economics.discounting import discount_factor
from dcplan.economics.monthly.payments import on_delivery
from dcplan.economics.monthly.weights import financed_weights, present_usd
from dcplan.inputs.cloud_prices import cloud_place
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.audit.rent.use import in_force
from dcplan.planning.audit.uses import EARLIER, UNUSED, Use, uses_of
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.units import QUARTERS_PER_YEAR


class Part(StrEnum):
    """Part of the cost of a workload."""

    HARDWARE = "hardware"
    """Systems and their maintenance."""
    NETWORK = "network"
    STORAGE = "storage"
    ENERGY = "energy"
    """Energy, demand charge, and fuel of plants on site."""
    SPACE = "space"
    """Buildings, cooling, power equipment, lease, facility and staff."""
    CLOUD = "cloud"
    UNSERVED = "unserved"
    """Value of unserved demand."""


PARTS = tuple(Part)


@dataclass(frozen=True)
class Bearer:
    """Who bears a cost: a workload, and the system or offer that causes it."""

    workload: str
    place: str = ""
    system: str = ""


@dataclass(frozen=True)
class Allocation:
    """Quarterly charges of every payment by bearer, part and quarter."""

    charges: Mapping[tuple[Bearer, Part, int], float]
    """Money of the middle of the quarter. [USD]"""
    uses: tuple[Use, ...]
    discount_rate: float
    after_tax_usd: Mapping[str, float] | None = None
    """Present cost of each workload after taxes, payment terms and debt; None without them."""

    def factor(self, t: int) -> float:
        """Return the discount factor of the middle of a quarter."""
        return _middle(self.discount_rate, t)

    def present_usd(self) -> dict[str, dict[Part, float]]:
        """Return the present cost of each workload by part; they sum to the net present cost."""
        found: dict[str, dict[Part, float]] = defaultdict(lambda: dict.fromkeys(PARTS, 0.0))
        for (who, part, t), usd in self.charges.items():
            found[who.workload][part] += usd * self.factor(t)
        return dict(found)

    def by_quarter_usd(self) -> dict[tuple[str, int], dict[Part, float]]:
        """Return the cost of each workload by quarter and part, not discounted."""
        found: dict[tuple[str, int], dict[Part, float]] = defaultdict(
            lambda: dict.fromkeys(PARTS, 0.0)
        )
        for (who, part, t), usd in self.charges.items():
            found[who.workload, t][part] += usd
        return dict(found)


def with_unused(costs: Mapping[str, Mapping[Part, float]]) -> dict[str, float]:
    """Return the cost of each bearer with the unused part by part spread over the workloads.

    The unused cost of a part is in proportion to what the workloads bear of it; where no workload
    bears any, in proportion to their whole cost. [USD]

    Examples
    --------
    >>> with_unused({"a": {Part.ENERGY: 3.0}, "b": {Part.ENERGY: 1.0}, UNUSED: {Part.ENERGY: 2.0}})
    {'a': 4.5, 'b': 1.5, '(unused)': 0.0}
    """
    own = {name: parts for name, parts in costs.items() if name not in (UNUSED, EARLIER)}
    whole = {name: sum(parts.values()) for name, parts in costs.items() if name != UNUSED}
    totals, left = {name: max(whole[name], 0.0) for name in own}, 0.0
    for part, usd in costs.get(UNUSED, {}).items():
        weights = {name: max(parts.get(part, 0.0), 0.0) for name, parts in own.items()}
        weights = weights if sum(weights.values()) > 0 else totals
        total = sum(weights.values())
        left += 0.0 if total > 0 else usd
        for name, weight in weights.items() if total > 0 else ():
            whole[name] += usd * weight / total
    return whole | ({UNUSED: left} if UNUSED in costs else {})


def allocate(problem: PlanningProblem, d: Decisions, books: Accounts) -> Allocation:
    """Share every payment of an audited plan among its workloads.

    A payment for an asset becomes a level charge over its quarters in service, net of its residual
    value, with the same present value. Each quarter's charge is shared by the quarter's uses. The
    present cost of the payment after taxes, payment terms and debt is shared in the same way.
    """
    rate, uses = problem.finance.discount_rate, uses_of(problem, d, books)
    sharer = _Sharer(problem, d, books, uses)
    charges: dict[tuple[Bearer, Part, int], float] = defaultdict(float)
    taxed, worth = defaultdict[str, float](float), _after_tax(problem, books.flows)
    for flow, after_tax_usd in zip(books.flows, worth, strict=True):
        if not flow.usd:
            continue
        part, quarters = part_of(flow), sharer.quarters(flow)
        usd = quarterly_charge_usd(flow, quarters, rate)
        level = after_tax_usd / sum(_middle(rate, t) for t in quarters)
        for t in quarters:
            for who, share in sharer.shares(flow, t).items():
                charges[who, part, t] += usd * share
                taxed[who.workload] += level * share * _middle(rate, t)
    financed = problem.finance.financing is not None
    return Allocation(dict(charges), tuple(uses), rate, dict(taxed) if financed else None)


def _middle(rate_per_year: float, t: int) -> float:
    return discount_factor(rate_per_year, (t + 0.5) / QUARTERS_PER_YEAR)


def _after_tax(problem: PlanningProblem, flows: Sequence[Flow]) -> list[float]:
    """Return the present cost of each payment after taxes, payment terms and debt; 0 without them."""
    terms, quarters = problem.finance.financing, problem.quarters
    if terms is None:
        return [0.0] * len(flows)
    later = max((x.quarter + 1 - quarters for x in flows), default=0)
    weights = financed_weights(terms, quarters, max(later, 0))
    dated = flows if terms.milestones is None else on_delivery(flows, quarters)
    return [present_usd(x, weights, quarters) for x in dated]


def part_of(flow: Flow) -> Part:
    """Return the part of a workload's cost to which a payment belongs."""
    by_group = {
        FlowGroup.ENERGY: Part.ENERGY,
        FlowGroup.CLOUD: Part.CLOUD,
        FlowGroup.POST_HORIZON: Part.CLOUD,
        FlowGroup.UNSERVED: Part.UNSERVED,
    }
    by_asset = {AssetClass.NETWORK: Part.NETWORK, AssetClass.STORAGE: Part.STORAGE}
    if flow.group in by_group and flow.asset is not AssetClass.LEASED:
        return by_group[flow.group]
    if flow.asset in by_asset:
        return by_asset[flow.asset]
    systems = flow.asset in EQUIPMENT or flow.shared.by in (
        Driver.HOURS,
        Driver.UNUSED,
        Driver.EARLIER,
    )
    return Part.HARDWARE if systems else Part.SPACE


class _Sharer:
    """Quarters and shares of payments; equal shares are computed once."""

    def __init__(
        self, problem: PlanningProblem, d: Decisions, books: Accounts, uses: Iterable[Use]
    ) -> None:
        self._problem = problem
        self._workload = {x.id: x.workload_id for x in problem.demands}
        self._by_place: dict[tuple[str, int], list[Use]] = defaultdict(list)
        for use in uses:
            self._by_place[use.place, use.quarter].append(use)
        self._busy = {key for key, a in books.halls.items() if a.racks}
        self._forced = {
            o.id: [t for t in range(problem.quarters) if in_force(d, o, t)] for o in problem.offers
        }
        self._known: dict[tuple[object, ...], dict[Bearer, float]] = {}

    def quarters(self, flow: Flow) -> list[int]:
        """Return the quarters that bear a payment.

        A hall or a site is in service from its payment on in the quarters in which it has racks.
        """
        last, use = self._problem.quarters - 1, flow.shared
        if flow.quarter > last:  # a commitment or a lease after the horizon
            in_force = self._forced.get(flow.offer, range(*(flow.shared.serves or (0, 0))))
            return [t for t in in_force if t <= last] or [last]
        if flow.group not in (FlowGroup.CAPEX, FlowGroup.RESIDUAL) or use.serves is None:
            return [flow.quarter]
        first, end = use.serves
        found = list(range(max(first, 0), min(end, last + 1)))
        if use.by in (Driver.PORTS, Driver.RATED) or len(use.place) == 1:
            halls = self._halls(flow)
            busy = [t for t in found if any((h, t) in self._busy for h in halls)]
            found = busy or found
        return found or [min(flow.quarter, last)]

    def _halls(self, flow: Flow) -> tuple[str, ...]:
        if flow.shared.place:
            return flow.shared.place[:1]
        return tuple(h.id for h in self._problem.halls if h.site == flow.site)

    def shares(self, flow: Flow, t: int) -> dict[Bearer, float]:
        """Return who bears a payment in a quarter, in fractions that sum to 1."""
        use = flow.shared
        key = (use.by, use.place, use.user, flow.site, flow.offer, t)
        if key not in self._known:
            self._known[key] = self._shares(flow, t)
        return self._known[key]

    def _shares(self, flow: Flow, t: int) -> dict[Bearer, float]:
        use, offer = flow.shared, cloud_place(flow.offer) if flow.offer else ""
        hall = use.place[0] if use.place else offer
        system = use.place[2] if len(use.place) > 1 else ""
        if use.by in (Driver.UNUSED, Driver.EARLIER):
            return {Bearer(UNUSED if use.by is Driver.UNUSED else EARLIER, hall, system): 1.0}
        if use.by is Driver.USER:
            user = self._workload.get(use.user, use.user)
            of = [x.system for x in self._by_place[hall, t] if x.workload == user]
            if use.place:  # a job bears its link in the quarters after its run, too
                quarters = range(self._problem.quarters)
                own = (x for q in quarters for x in self._by_place[hall, q])
                of += [x.system for x in own if x.workload == user]
            return {Bearer(user, hall, of[0] if of else ""): 1.0}
        places = (offer,) if offer else self._halls(flow)
        weights: dict[Bearer, float] = defaultdict(float)
        for place in places:
            for x in self._by_place[place, t]:
                if x.system == system or not system:
                    weights[Bearer(x.workload, place, x.system)] += x.amounts.get(use.by, 0.0)
        total = sum(weights.values())
        if total <= 0.0:
            return {Bearer(UNUSED, hall, system): 1.0}
        return {who: x / total for who, x in weights.items() if x}

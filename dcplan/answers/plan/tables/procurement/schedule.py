"""Purchase schedule of a plan, from the payments of its audited cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from dcplan.answers.plan.calendar import month_at, quarter_at
from dcplan.answers.plan.tables.procurement.alternatives import (
    NOT_NAMED,
    Alternative,
    other_fabric,
    other_racks,
    vendor_of_fabric,
    vendor_of_system,
)
from dcplan.answers.plan.tables.procurement.leases import leased
from dcplan.answers.plan.tables.procurement.terms import Lead, lead_of, paid
from dcplan.catalog.schema import Offer, StorageTier
from dcplan.economics.cash_flow import AssetClass, Flow, FlowGroup, Goods, Unit
from dcplan.economics.monthly.payments import Milestones
from dcplan.inputs.cloud_prices import row_of
from dcplan.inputs.financing import payment_of
from dcplan.inputs.log import InputLog
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.audit.upgrades import upgrade_bought
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import Placement, PlanningProblem
from dcplan.planning.problem.terms.links import link_of
from dcplan.result import Table
from dcplan.scenario.load import Question
from dcplan.specs.plan.purchases import PURCHASES, PurchaseRow
from dcplan.units import MONTHS_PER_QUARTER

RENT = frozenset({FlowGroup.CLOUD, FlowGroup.POST_HORIZON})


@dataclass(frozen=True)
class Lot:
    """Payments of one purchase."""

    flows: tuple[Flow, ...]

    @property
    def first(self) -> Flow:
        """Return the earliest payment."""
        return self.flows[0]

    @property
    def goods(self) -> Goods:
        """Return what the purchase buys."""
        goods = self.first.goods
        if goods is None:
            msg = f"a purchase without goods: {self.first.line}"
            raise ValueError(msg)
        return goods

    @property
    def usd(self) -> float:
        """Return the sum of the payments [USD]."""
        return sum(f.usd for f in self.flows)

    @property
    def quantity(self) -> float:
        """Return the sum of the amounts, in the unit of the goods; support is one lot."""
        if self.goods.unit is Unit.LOT and self.first.offer:
            return 1.0
        return sum(f.goods.quantity for f in self.flows if f.goods)


@dataclass(frozen=True)
class Plan:
    """What the rows are computed from."""

    problem: PlanningProblem
    decisions: Decisions
    books: Accounts
    question: Question
    log: InputLog

    def month(self, quarter: int) -> str:
        """Return the first month of a quarter number."""
        return month_at(self.problem, quarter * MONTHS_PER_QUARTER)


def purchases(
    problem: PlanningProblem, d: Decisions, books: Accounts, question: Question, log: InputLog
) -> Table:
    """Return every purchase and rent of a plan, by vendor and month of the order.

    The amounts of a cost line add up to that line of the plan's cost. Deposits and acceptance
    payments divide the price of racks, network and storage; the plan's cost has the whole price in
    the quarter of the order.
    """
    plan = Plan(problem, d, books, question, log)
    given = question.scenario.finance.payment
    due = payment_of(given, log) if given else None
    rows = [_equipment(plan, lot, due) for lot in _lots(books.flows)]
    rows += [row for lot in _rents(books.flows) for row in _rent(plan, lot)]
    rows += leased(problem, question, log, books.flows)
    return PURCHASES.table(
        sorted(
            rows,
            key=lambda r: (
                r.vendor == NOT_NAMED,
                r.vendor,
                r.order_month,
                r.item,
                r.place,
                r.quarter,
            ),
        )
    )


def _lots(flows: Sequence[Flow]) -> Iterator[Lot]:
    """Yield the purchases among the payments; storage of one hall and quarter is one purchase."""
    storage: dict[tuple[object, ...], list[Flow]] = defaultdict(list)
    for f in flows:
        if f.group is not FlowGroup.CAPEX or not f.usd:
            continue
        if f.asset is AssetClass.STORAGE and f.goods is not None:
            storage[f.quarter, f.goods.place, f.goods.serves_from].append(f)
        else:
            yield Lot((f,))
    for found in storage.values():
        yield Lot(tuple(found))


def _rents(flows: Sequence[Flow]) -> Iterator[Lot]:
    """Yield the rents: each commitment, on demand each offer and term, and each accompanying cost."""
    found: dict[tuple[object, ...], list[Flow]] = defaultdict(list)
    for f in flows:
        if f.group in RENT and f.goods is not None and f.asset is not AssetClass.LEASED:
            term = f.term if f.goods.unit is Unit.ACCELERATOR_HOUR else ""
            found[f.offer, term, f.goods.serves_from, f.goods.item].append(f)
    for lot in found.values():
        yield Lot(tuple(sorted(lot, key=lambda f: f.quarter)))


def _equipment(plan: Plan, lot: Lot, due: Milestones | None) -> PurchaseRow:
    """Return the row of a purchase of equipment, a fit-out or power."""
    f, goods = lot.first, lot.goods
    serves = f.quarter if goods.serves_from is None else goods.serves_from
    lead = lead_of(plan.problem, plan.question, plan.log, f, serves)
    part = paid(f, lot.usd, serves, due)
    other = _alternative(plan, f)

    def month(m: int | None) -> str:
        return "" if m is None else month_at(plan.problem, m)

    return PurchaseRow(
        vendor=_vendor(plan, f),
        item=goods.item,
        place=goods.place or f.site,
        quantity=lot.quantity,
        unit=goods.unit.value,
        contents=_contents(plan, f),
        unit_price_usd=lot.usd / lot.quantity,
        amount_usd=lot.usd,
        order_month=lead.order_month,
        delivery_month=plan.month(serves),
        serves_from=quarter_at(plan.problem, serves),
        lead_months=lead.months,
        lead_source=lead.source,
        terms=part.terms,
        deposit_usd=part.deposit_usd,
        deposit_month=month(part.deposit_month),
        balance_usd=part.balance_usd,
        balance_month=month(part.balance_month),
        acceptance_usd=part.acceptance_usd,
        acceptance_month=month(part.acceptance_month),
        alternative=other.item if other else "",
        alternative_vendor=other.vendor if other else "",
        alternative_difference_usd=other.difference_usd if other else None,
        note="; ".join(_notes(plan, f, lead, month(part.deposit_month))),
        group=f.group.value,
        line=f.line,
        quarter=quarter_at(plan.problem, f.quarter),
    )


def _notes(plan: Plan, f: Flow, lead: Lead, deposit_month: str) -> Iterator[str]:
    """Yield what a buyer must know of a purchase."""
    start = plan.month(0)
    if f.asset is AssetClass.EXISTING:
        yield "ordered before the plan; the amount is what is due on arrival"
    elif f.asset is AssetClass.OTHER:
        yield "fee for canceling an order of before the plan"
    elif f.quarter == 0 and any(n and k == f.shared.place for k, n in plan.decisions.fleet.items()):
        yield "fleet given by the scenario"
    if lead.order_month and lead.order_month < start:
        yield f"must be ordered before the plan starts in {start}"
    if deposit_month and lead.order_month and deposit_month < lead.order_month:
        yield "the deposit is due before the order of the plan"


def _placement(plan: Plan, f: Flow) -> Placement | None:
    """Return the placement of the racks that a payment buys."""
    return next((p for p in plan.problem.placements if p.key == f.shared.place), None)


def _vendor(plan: Plan, f: Flow) -> str:
    """Return the vendors of what a payment buys."""
    catalog, goods = plan.question.catalog, f.goods
    if goods is None:
        return NOT_NAMED
    if f.asset is AssetClass.NETWORK:
        options = (o for o in plan.problem.fabrics if (o.hall, o.id) == (goods.place, goods.item))
        option = next(options, None)
        return vendor_of_fabric(catalog, option) if option else NOT_NAMED
    if f.asset is AssetClass.STORAGE:
        rows = (catalog.find("storage_tiers", tier, StorageTier) for tier in _tiers(plan, f))
        return ", ".join(dict.fromkeys(r.vendor for r in rows if r and r.vendor)) or NOT_NAMED
    return vendor_of_system(catalog, goods.item)


def _tiers(plan: Plan, f: Flow) -> Iterable[str]:
    """Return the storage tiers that a payment buys, if the plan chooses them."""
    place = _placement(plan, f)
    if place is not None:
        return [tier for tier, n in place.storage_blocks if n]
    halls = (h for h in plan.problem.halls if f.shared.place == (h.id,))
    return [tier for h in halls for tier, n in h.storage_blocks if n]


def _contents(plan: Plan, f: Flow) -> str:
    """Describe racks by their nodes and accelerators, a network by its parts."""
    place, goods = _placement(plan, f), f.goods
    if goods is None:
        return ""
    link = link_of(f, plan.problem.links)
    if link is not None:
        return f"end of the link: {link.optic}, {link.gbps:,.0f} Gb/s one way"
    upgrade = upgrade_bought(f, plan.problem.halls)
    if upgrade is not None:
        added = f", adds {upgrade.cooling}" if upgrade.cooling else ""
        return f"works of the hall, then {upgrade.after.it_mw:.4g} MW of IT{added}"
    if f.asset is AssetClass.NETWORK:
        total: dict[str, int] = defaultdict(int)
        for (_, part), n in plan.books.pieces_bought[goods.place, f.quarter].items():
            total[part] += n
        return ", ".join(f"{n:,} {PARTS[part]}" for part, n in total.items() if n > 0)
    if f.asset is AssetClass.STORAGE:
        return ", ".join(_tiers(plan, f))
    if place is None or goods.unit is not Unit.RACK:
        return ""
    nodes, accelerators = goods.quantity * place.nodes, goods.quantity * place.accelerators
    return f"{nodes:,.0f} nodes, {accelerators:,.0f} accelerators"


PARTS = {
    "leaf": "leaf switches",
    "spine": "spine switches",
    "core": "core switches",
    "switch optic": "switch transceivers",
    "node optic": "node transceivers",
    "cable": "cables",
}
"""Role of a part of a network -> its name."""


def _alternative(plan: Plan, f: Flow) -> Alternative | None:
    """Return the next best system or fabric in place of a purchase."""
    catalog, goods, place = plan.question.catalog, f.goods, _placement(plan, f)
    if goods is None:
        return None
    if f.asset is AssetClass.RACKS and place is not None:
        return other_racks(plan.problem, catalog, place, f.quarter, int(goods.quantity))
    if f.asset is AssetClass.NETWORK:
        return other_fabric(
            plan.problem, catalog, plan.decisions, plan.books, goods.place, f.quarter
        )
    return None


def _rent(plan: Plan, lot: Lot) -> Iterator[PurchaseRow]:
    """Yield the payments by quarter of a commitment, of an offer as used, or of a cost of it."""
    goods, last = lot.goods, lot.flows[-1].quarter
    begins = lot.first.quarter if goods.serves_from is None else goods.serves_from
    kind = "as used" if goods.serves_from is None else "committed"
    span = f"{quarter_at(plan.problem, lot.first.quarter)} to {quarter_at(plan.problem, last)}"
    by_quarter: dict[int, list[Flow]] = defaultdict(list)
    for f in lot.flows:
        by_quarter[f.quarter].append(f)
    for found in by_quarter.values():
        yield _rent_of_quarter(plan, Lot(tuple(found)), begins, f"{kind}, paid by quarter, {span}")


def _rent_of_quarter(plan: Plan, lot: Lot, begins: int, terms: str) -> PurchaseRow:
    """Return the row of what a rent costs in one quarter.

    Parameters
    ----------
    begins : int
        First quarter of the rent.
    terms : str
        How the whole rent is paid.
    """
    f, goods = lot.first, lot.goods
    hours, committed = goods.unit is Unit.ACCELERATOR_HOUR, goods.serves_from is not None
    row = plan.question.catalog.find("cloud", row_of(f.offer), Offer)
    after = f.quarter >= plan.problem.quarters
    return PurchaseRow(
        vendor=row.provider if row else NOT_NAMED,
        item=f"{goods.item} {f.term}" if hours else f"{goods.item} of {f.offer}",
        place=goods.place,
        quantity=lot.quantity,
        unit=goods.unit.value,
        contents=_committed(plan, f, begins) if committed else "",
        unit_price_usd=lot.usd / lot.quantity,
        amount_usd=lot.usd,
        order_month=plan.month(begins),
        delivery_month=plan.month(begins),
        serves_from=quarter_at(plan.problem, begins),
        lead_months=None,
        lead_source="",
        terms=terms,
        deposit_usd=0.0,
        deposit_month="",
        balance_usd=lot.usd,
        balance_month=plan.month(f.quarter),
        acceptance_usd=0.0,
        acceptance_month="",
        alternative="",
        alternative_vendor="",
        alternative_difference_usd=None,
        note="paid after the horizon" if after else "",
        group=FlowGroup.CLOUD.value,
        line=f.offer if hours else f.line,
        quarter=quarter_at(plan.problem, f.quarter),
    )


def _committed(plan: Plan, f: Flow, begins: int) -> str:
    """Describe a commitment by its nodes and accelerators."""
    nodes = plan.decisions.committed.get((f.offer, f.term, begins), 0)
    each = next((o.node_accelerators for o in plan.problem.offers if o.id == f.offer), 0)
    return f"{nodes:,} nodes, {nodes * each:,} accelerators"

"""Purchase schedule of a plan, from the payments of its audited cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from dcplan.answers.plan.calendar import month_at, quarter_at
from dcplan.answers.plan.tables.procurement.alternatives import (
    NOT_NAMED,
    Alternative,
    other_fabric,
    other_racks,
)
from dcplan.answers.plan.tables.procurement.contents import (
    Plan,
    contents_of,
    placement_of,
    vendor_of,
)
from dcplan.answers.plan.tables.procurement.leases import leased
from dcplan.answers.plan.tables.procurement.lots import Lot, lots, rents
from dcplan.answers.plan.tables.procurement.terms import Lead, lead_of, paid
from dcplan.catalog.schema import Offer
from dcplan.economics.cash_flow import AssetClass, Flow, FlowGroup, Unit
from dcplan.economics.monthly.payments import Milestones
from dcplan.inputs.cloud_prices import row_of
from dcplan.inputs.financing import payment_of
from dcplan.inputs.log import InputLog
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.result import Table
from dcplan.scenario.load import Question
from dcplan.specs.plan.purchases import PURCHASES, PurchaseRow


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
    rows = [_equipment(plan, lot, due) for lot in lots(books.flows)]
    rows += [row for lot in rents(books.flows) for row in _rent(plan, lot)]
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
        vendor=vendor_of(plan, f),
        item=goods.item,
        place=goods.place or f.site,
        quantity=lot.quantity,
        unit=goods.unit.value,
        contents=contents_of(plan, f),
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


def _alternative(plan: Plan, f: Flow) -> Alternative | None:
    """Return the next best system or fabric in place of a purchase."""
    catalog, goods, place = plan.question.catalog, f.goods, placement_of(plan, f)
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

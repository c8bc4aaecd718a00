"""Leases of racks: their rows of the purchase schedule, and the table of leases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dcplan.answers.plan.calendar import month_at, quarter_at
from dcplan.answers.plan.tables.procurement.terms import lead_of
from dcplan.economics.cash_flow import AssetClass, Flow
from dcplan.inputs.log import InputLog
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.result import Table
from dcplan.scenario.load import Question
from dcplan.specs.plan.purchases import LEASES, LeaseRow, PurchaseRow
from dcplan.units import MONTHS_PER_QUARTER


def leased(
    problem: PlanningProblem, question: Question, log: InputLog, flows: list[Flow]
) -> Iterator[PurchaseRow]:
    """Yield what each lease costs in each quarter; the vendor is the lessor."""
    for f in flows:
        goods, use = f.goods, f.shared.serves
        if f.asset is not AssetClass.LEASED or goods is None or use is None:
            continue
        place = problem.placed[f.shared.place[0], f.shared.place[1], f.shared.place[2]]
        racks, (first, end) = goods.quantity / MONTHS_PER_QUARTER, use
        ordered = replace(f, asset=AssetClass.RACKS, quarter=first - place.lead)
        lead = lead_of(problem, question, log, ordered, first)
        nodes, accelerators = racks * place.nodes, racks * place.accelerators
        span = f"{quarter_at(problem, first)} to {quarter_at(problem, end - 1)}"
        yield PurchaseRow(
            vendor=f"lessor of {f.term}",
            item=goods.item,
            place=goods.place,
            quantity=goods.quantity,
            unit=goods.unit.value,
            contents=f"{nodes:,.0f} nodes, {accelerators:,.0f} accelerators",
            unit_price_usd=f.usd / goods.quantity,
            amount_usd=f.usd,
            order_month=lead.order_month,
            delivery_month=month_at(problem, first * MONTHS_PER_QUARTER),
            serves_from=quarter_at(problem, first),
            lead_months=lead.months,
            lead_source=lead.source,
            terms=f"operating lease, paid by month, {span}, then returned",
            deposit_usd=0.0,
            deposit_month="",
            balance_usd=f.usd,
            balance_month=month_at(problem, f.quarter * MONTHS_PER_QUARTER),
            acceptance_usd=0.0,
            acceptance_month="",
            alternative="",
            alternative_vendor="",
            alternative_difference_usd=None,
            note="paid after the horizon" if f.quarter >= problem.quarters else "",
            group=f.group.value,
            line=f.line,
            quarter=quarter_at(problem, f.quarter),
        )


def leases(problem: PlanningProblem, d: Decisions) -> Table:
    """Return every lease of racks: its price, payments and end."""
    terms, rows = {x.id: x for x in problem.finance.leases}, list[LeaseRow]()
    for (h, c, k, lease, q), n in sorted(d.leased.items(), key=lambda x: (x[0][-1], x[0])):
        place, offer = problem.placed[h, c, k], terms[lease]
        first = q + place.lead
        inside = min(offer.quarters, problem.quarters - first)
        price = n * place.rack_usd(q)
        each = offer.usd_per_quarter(price)
        rows.append(
            LeaseRow(
                lease=lease,
                order_quarter=quarter_at(problem, q),
                hall=h,
                system=k,
                racks=n,
                accelerators=n * place.accelerators,
                price_usd=price,
                payment_usd_per_month=each / MONTHS_PER_QUARTER,
                serves_from=quarter_at(problem, first),
                returned=quarter_at(problem, first + offer.quarters),
                paid_in_horizon_usd=inside * each,
                paid_after_horizon_usd=(offer.quarters - inside) * each,
            )
        )
    return LEASES.table(rows)

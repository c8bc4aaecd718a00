"""Tables of a plan's money: cost by line, cash flow by quarter, every payment, and benchmarks."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from dcplan.answers.plan.calendar import quarter_at
from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Offer, Parameter
from dcplan.economics.cash_flow import (
    EQUIPMENT,
    GROUPS,
    AssetClass,
    FlowGroup,
    Goods,
    Unit,
    cash_out_usd,
    debt_usd,
)
from dcplan.inputs.cloud_prices import row_of
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.result import Metric, Table
from dcplan.specs.plan import metrics as figures
from dcplan.specs.plan import money as specs

NOTHING = Goods("", 0.0, Unit.LOT)
"""Goods of a payment that buys nothing: residual value and unserved demand."""
Kind = tuple[int, int, str, AssetClass, str, str, bool, str, Goods]
"""Quarter, group, line, class, site, offer, whether at the end, term and goods without amounts."""


def cost(books: Accounts) -> Table:
    """Return the undiscounted sum of every cost line."""
    sums: dict[tuple[FlowGroup, str], float] = defaultdict(float)
    for f in books.flows:
        if f.usd:  # an order that was paid before the plan costs nothing more
            sums[f.group, f.line] += f.usd
    ordered = sorted(
        sums.items(), key=lambda item: (GROUPS.index(item[0][0]), -abs(item[1]), item[0][1])
    )
    return specs.COST.table(specs.CostRow(g.value, line, usd) for (g, line), usd in ordered)


def cash_flow(problem: PlanningProblem, books: Accounts) -> Table:
    """Return cost groups and debt by quarter of the horizon.

    Post-horizon cost of commitments is not part of any quarter. The value of what the plan still
    owns at the end is no payment.
    """
    by: dict[tuple[int, FlowGroup], float] = defaultdict(float)
    kept: dict[int, float] = defaultdict(float)
    for f in books.flows:
        if f.at_end:
            kept[f.quarter] += f.usd
        else:
            by[f.quarter, f.group] += f.usd
    finance, paid = problem.finance, cash_out_usd(books.flows, problem.quarters)
    borrowed, served = debt_usd(
        books.flows, problem.quarters, finance.debt_share_frac, finance.debt_service_frac
    )
    return specs.CASH_FLOW.table(
        specs.CashRow(
            quarter=quarter_at(problem, t),
            capex_usd=by[t, FlowGroup.CAPEX],
            energy_usd=by[t, FlowGroup.ENERGY],
            opex_usd=by[t, FlowGroup.OPEX],
            cloud_usd=by[t, FlowGroup.CLOUD],
            unserved_usd=by[t, FlowGroup.UNSERVED],
            sales_usd=by[t, FlowGroup.RESIDUAL],
            end_value_usd=kept[t],
            debt_drawn_usd=borrowed[t],
            debt_service_usd=served[t],
            cash_out_usd=paid[t] - borrowed[t] + served[t],
        )
        for t in range(problem.quarters)
    )


def benchmarks(
    problem: PlanningProblem,
    d: Decisions,
    books: Accounts,
    metrics: dict[str, Metric],
    catalog: Catalog,
) -> Table:
    """Return unit costs and ratios with their public ranges; values outside are flagged.

    Accelerators and facility power are those of the last quarter. Capital cost per accelerator and
    per MW is left out if the plan does not pay for all of it: with hardware or halls that exist
    before the plan, with a lease, with rent, or if hardware has left by then. The share of the
    network is left out if networks exist before the plan, or if every hall has one server or rack.
    """
    last = problem.quarters - 1
    accelerators, capex = (
        float(metrics[spec.key].value or 0) for spec in (figures.ALL_ACCELERATORS, figures.CAPEX)
    )
    facility = sum(books.site(problem, s.id, last, "facility_mw") for s in problem.sites)
    if not accelerators or not facility:
        return specs.BENCHMARKS.table(())
    equipment = [f for f in books.flows if f.group is FlowGroup.CAPEX and f.asset in EQUIPMENT]
    compute = sum(f.usd for f in equipment)
    network = sum(f.usd for f in equipment if f.asset is AssetClass.NETWORK)
    values = {
        **(
            {"band-usd-per-accelerator": capex / accelerators, "band-usd-per-mw": capex / facility}
            if _pays_for_all(problem, d, books)
            else {}
        ),
        "band-w-per-accelerator": facility * 1e6 / accelerators,
        **(
            {}
            if problem.existing or not compute or not network
            else {"band-network-share-frac": network / compute}
        ),
    }
    return specs.BENCHMARKS.table(
        _benchmark(catalog.get("finance", key, Parameter), value) for key, value in values.items()
    )


def _pays_for_all(problem: PlanningProblem, d: Decisions, books: Accounts) -> bool:
    """Return whether the capital cost of a plan is that of all its accelerators and of their halls."""
    last = problem.quarters - 1
    used = [h for h in problem.halls if books.halls[h.id, last].racks]
    built = all(not h.existing and not problem.site(h.site).lease_usd_per_kw_month for h in used)
    stays = all(
        d.racks(problem, p.key, last) == d.racks_ordered(p.key, last) for p in problem.placements
    )
    return built and stays and not problem.existing and not d.rented and not d.committed


def _benchmark(published: Parameter, value: float) -> specs.BenchmarkRow:
    """Return one unit cost or ratio with its published range."""
    low, high = published.value.bounds
    inside = specs.Inside.INSIDE if low <= value <= high else specs.Inside.OUTSIDE
    return specs.BenchmarkRow(
        published.name, value, low, high, published.unit, inside, str(published.source)
    )


def flows(problem: PlanningProblem, books: Accounts, catalog: Catalog) -> Table:
    """Sum every payment by quarter, group, line, site and goods, undiscounted.

    Workbooks and cost tools read this table.
    """
    sums: dict[Kind, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0, 0.0])
    for f in books.flows:
        goods = f.goods or NOTHING
        kind = (
            *(f.quarter, GROUPS.index(f.group), f.line, f.asset, f.site, f.offer, f.at_end),
            f.term,
            replace(goods, quantity=0.0, used=None if goods.used is None else 0.0),
        )
        for i, amount in enumerate((f.usd, goods.quantity, goods.used or 0.0, f.advance_usd)):
            sums[kind][i] += amount
    maker = {
        f.offer: catalog.get("cloud", row_of(f.offer), Offer).provider
        for f in books.flows
        if f.offer
    }
    return specs.FLOWS.table(
        _flow_row(problem, kind, amounts, maker.get(kind[5], ""))
        for kind, amounts in sorted(sums.items(), key=lambda item: _order(item[0]))
        if amounts[0] or amounts[3]
    )


def _order(kind: Kind) -> tuple[str | float, ...]:
    """Return the place of a row in the table of payments."""
    goods = kind[-1]
    first, life = (-1 if x is None else x for x in (goods.serves_from, goods.life_months))
    return (*kind[:-1], goods.item, goods.place, goods.unit, first, life, goods.used is None)


def _flow_row(
    problem: PlanningProblem, kind: Kind, amounts: list[float], provider: str
) -> specs.FlowRow:
    t, group, line, asset, site, _, at_end, term, goods = kind
    usd, quantity, used, advance = amounts
    bought = goods != NOTHING
    return specs.FlowRow(
        quarter=quarter_at(problem, t),
        group=GROUPS[group].value,
        line=line,
        asset=asset.value,
        site=site,
        provider=provider,
        falls=specs.Falls.END if at_end else specs.Falls.MIDDLE,
        usd=usd,
        term=term,
        item=goods.item,
        place=goods.place,
        quantity=quantity if bought else None,
        unit=goods.unit.value if bought else "",
        used_quantity=None if goods.used is None else used,
        serves_from="" if goods.serves_from is None else quarter_at(problem, goods.serves_from),
        life_months=goods.life_months,
        advance_usd=advance,
    )

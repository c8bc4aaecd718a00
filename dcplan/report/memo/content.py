"""What a decision memo says, taken from a plan's result and from answers on the same scenario."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dcplan.economics.cash_flow import FlowGroup, Unit
from dcplan.report.memo.alternatives import alternatives, flips
from dcplan.report.memo.blocks import Block, Grid, Items, Note, change, counted, usd
from dcplan.report.text.next_steps import scenario_words
from dcplan.report.text.numbers import shown
from dcplan.result import Result
from dcplan.specs.plan import metrics as figures
from dcplan.specs.plan.limits import LIMITS, NO_CHANGE_USD
from dcplan.specs.plan.money import CASH_FLOW, FLOWS, CashRow, Falls
from dcplan.specs.plan.purchases import PURCHASES, PurchaseRow
from dcplan.specs.plan.site import LEAD_TIMES

MOST_PURCHASES, MOST_LIMITS, MOST_LEADS = 6, 3, 2
"""Rows of the memo's parts, so that it stays on one page."""


@dataclass(frozen=True)
class Memo:
    """A memo: the decision, then titled parts."""

    title: str
    decision: str
    parts: tuple[tuple[str, tuple[Block, ...]], ...]


def memo(result: Result, others: Sequence[Result] = ()) -> Memo:
    """Return the memo of a plan.

    It computes no plan: what the results lack is named with the command that computes it.

    Parameters
    ----------
    others : sequence of Result
        Answers of ``explain`` and ``tco`` on the same scenario.

    Raises
    ------
    ValueError
        When the result is not a plan, or another answer is on another scenario.
    """
    if result.verb != "plan" or not result.tables:
        msg = f"a memo needs the result of dcplan plan with a plan: this is {result.verb} with status {result.status}"
        raise ValueError(msg)
    if PURCHASES.name not in result.tables:
        msg = (
            "a memo needs the purchases of one plan: a plan for several variants (--hedge) has none; "
            "plan one variant with --variant"
        )
        raise ValueError(msg)
    for other in others:
        _refuse_another(result, other)
    answers = (result, *others)
    return Memo(
        f"Decision memo: {result.scenario.get('name') or 'plan'}",
        result.headline,
        (
            ("Money and dates", tuple(_money_and_dates(result))),
            ("Purchases", tuple(_bought(result))),
            ("Alternatives", tuple(alternatives(answers))),
            ("Risks", tuple(_risks(result))),
            ("What would change the decision", tuple(flips(answers))),
            ("Basis", (_basis(result, others),)),
        ),
    )


SAME = ("inputs_sha256", "catalogs_sha256")
"""Digests of a result's scenario block that two answers on one question share."""


def _refuse_another(result: Result, other: Result) -> None:
    """Reject an answer on another scenario, variant, change or catalog."""
    if any(other.scenario.get(key) != result.scenario.get(key) for key in SAME):
        msg = (
            f"the answer of {other.verb} is on another scenario, variant, --set or catalog than the "
            "plan: compute it again with those of the plan"
        )
        raise ValueError(msg)


def _money_and_dates(result: Result) -> Iterator[Block]:
    """Yield the figures that the decision rests on."""
    cash = CASH_FLOW.rows(result.tables[CASH_FLOW.name])
    paid = [_paid(row) for row in cash]
    total = sum(x for x in paid if x is not None)
    hidden = any(x is None for x in paid)
    flows = FLOWS.rows(result.tables[FLOWS.name])
    sales = [f.usd for f in flows if f.group == FlowGroup.RESIDUAL and f.falls != Falls.END]
    rows = [
        ("Cash paid over the horizon, before tax and financing", usd(None if hidden else total))
    ]
    if any(sales):
        rows.append(("Cash from sales of hardware", usd(-sum(x for x in sales if x))))
    if not hidden and any(paid):
        most = max(range(len(cash)), key=lambda i: paid[i] or 0.0)
        rows.append((f"Largest quarter, {cash[most].quarter}", usd(paid[most])))
    kept = [f.usd for f in flows if f.group == FlowGroup.RESIDUAL and f.falls == Falls.END]
    left = None if any(x is None for x in kept) else -sum(kept)
    rows.append(("Value of hardware and buildings left at the end, not cash", usd(left)))
    if figures.NPV.key in result.metrics:
        rows.append(
            ("Net present cost, after that value", usd(result.metrics[figures.NPV.key].value))
        )
    if figures.AFTER_TAX_NPV.key in result.metrics:
        taxed = result.metrics[figures.AFTER_TAX_NPV.key].value
        rows.append(("The same after taxes, payment terms and debt", usd(taxed)))
    bought = PURCHASES.rows(result.tables[PURCHASES.name])
    for label, months in (
        ("First order", [x.order_month for x in bought]),
        ("First deposit", [x.deposit_month for x in bought]),
        ("Last order", [x.order_month for x in bought]),
        ("First capacity in service", [x.delivery_month for x in bought]),
    ):
        known = sorted(m for m in months if m)
        if known:
            rows.append((label, known[-1] if label == "Last order" else known[0]))
    rows += [
        (f"Run {job[0]} finishes by", str(m.value))
        for key, m in result.metrics.items()
        if (job := figures.FINISH.ids_in(key)) is not None
    ]
    yield Grid(("Figure", "Value"), tuple(rows), (False, True))


def _paid(row: CashRow) -> float | None:
    """Return the payments of a quarter without debt; None in a redacted result."""
    parts = (row.capex_usd, row.energy_usd, row.opex_usd, row.cloud_usd)
    return None if any(x is None for x in parts) else sum(parts)


def _bought(result: Result) -> Iterator[Block]:
    """Yield the largest purchases by vendor and item."""
    lots: dict[tuple[str, str, str], list[PurchaseRow]] = {}
    for row in PURCHASES.rows(result.tables[PURCHASES.name]):
        lots.setdefault((row.vendor, row.item, row.unit), []).append(row)
    if not lots:
        yield Note("The plan buys and rents nothing.")
        return
    ordered = sorted(lots.items(), key=lambda x: -(_sum(x[1]) or 0.0))
    rows = [_lot(vendor, item, found) for (vendor, item, _), found in ordered[:MOST_PURCHASES]]
    rest = [row for _, found in ordered[MOST_PURCHASES:] for row in found]
    if rest:
        left = len(ordered) - MOST_PURCHASES
        rows.append((f"{left} more", "", "", "", "", usd(_sum(rest))))
    everything = [row for found in lots.values() for row in found]
    rows.append(("Total", "", "", "", "", usd(_sum(everything))))
    heads = ("Vendor", "Item", "Quantity", "Order", "In service", "Amount")
    yield Grid(heads, tuple(rows), (False, False, True, False, False, True))
    yield Note("Every purchase with its payments: `--export purchases`.")


def _sum(rows: Sequence[PurchaseRow]) -> float | None:
    """Return the sum of amounts [USD]; None in a redacted result."""
    amounts = [row.amount_usd for row in rows]
    return None if any(x is None for x in amounts) else sum(amounts)


def _lot(vendor: str, item: str, rows: Sequence[PurchaseRow]) -> tuple[str, ...]:
    """Return the row of all purchases of one item from one vendor."""
    quantity = sum(row.quantity for row in rows)
    return (
        vendor,
        item,
        counted(quantity, rows[0].unit),
        _span([row.order_month for row in rows]) or "before the plan",
        _span([row.delivery_month for row in rows]),
        usd(_sum(rows)),
    )


def _span(months: Sequence[str]) -> str:
    known = sorted(m for m in months if m)
    if not known:
        return ""
    return known[0] if known[0] == known[-1] else f"{known[0]} to {known[-1]}"


def _risks(result: Result) -> Iterator[Block]:
    """Yield binding limits, lead times, the simulated range and failed expectations."""
    yield Items(tuple(_risk_lines(result)))


def _risk_lines(result: Result) -> Iterator[str]:
    limits = LIMITS.rows(result.tables[LIMITS.name]) if LIMITS.name in result.tables else []
    worth = [x for x in limits if x.cost_change_usd and abs(x.cost_change_usd) >= NO_CHANGE_USD]
    for row in sorted(worth, key=lambda x: -abs(x.cost_change_usd))[:MOST_LIMITS]:
        by = change(row.cost_change_usd)
        yield f"Binding limit: {row.limit}; {row.step} changes the net present cost by {by}."
    if not worth:
        yield "No binding limit has a price with the integer decisions unchanged."
    yield from _leads(result)
    low, high = (result.metrics.get(f"uncertainty.npv_usd_{p}") for p in ("p10", "p90"))
    if low is not None and high is not None:
        yield f"Simulated net present cost: P10 {usd(low.value)}, P90 {usd(high.value)}."
    gap = result.metrics.get(figures.GAP.key)
    if gap is not None and gap.value:
        yield f"A better plan may exist: the proven gap is {shown(figures.GAP.key, gap.value)}."
    for x in result.expectations:
        if x["passed"] is False:
            yield f"Expectation {x.get('id') or x['metric']} failed."


def _leads(result: Result) -> Iterator[str]:
    """Yield the longest lead times, and equipment that is overdue when the plan starts."""
    bought = PURCHASES.rows(result.tables[PURCHASES.name])
    items: dict[tuple[float, str], dict[str, None]] = defaultdict(dict)
    for x in bought:
        if x.lead_months and x.unit != Unit.LOT:
            items[x.lead_months, x.lead_source][x.item] = None
    for months, source in sorted(items, reverse=True)[:MOST_LEADS]:
        yield f"Lead time of {', '.join(items[months, source])}: {months:.0f} months ({source})."
    rows = (
        LEAD_TIMES.rows(result.tables[LEAD_TIMES.name]) if LEAD_TIMES.name in result.tables else []
    )
    late = max(rows, key=lambda x: x.weeks_before_start, default=None)
    if late is not None and late.weeks_before_start > 0:
        yield (
            f"Order the {late.equipment} of {late.hall} by {late.order_by}, "
            f"{late.weeks_before_start:.0f} weeks before the plan starts."
        )


def _basis(result: Result, others: Sequence[Result]) -> Note:
    """Return what the memo is computed from."""
    from dcplan import __version__

    more = f", with answers of {', '.join(x.verb for x in others)}" if others else ""
    digest = str(result.scenario.get("inputs_sha256") or "")[:12]
    return Note(
        f"dcplan {__version__}, `dcplan plan {scenario_words(result)}`, inputs {digest}{more}. "
        f"Status: {result.status}. Costs are before taxes and debt where not stated. Every figure is of the "
        "audited plan."
    )

"""What a decision memo says, taken from a plan's result and from answers on the same scenario."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dcplan.answers.plan.summary import basis_of, dates_of, lots_of, money_of, total_usd
from dcplan.economics.cash_flow import Unit
from dcplan.planning.solve.status import SolveStatus
from dcplan.report.memo.alternatives import alternatives, flips
from dcplan.report.memo.blocks import Block, Grid, Items, Note, change, counted, usd
from dcplan.report.text.next_steps import scenario_words
from dcplan.report.text.numbers import shown
from dcplan.result import Result
from dcplan.specs.plan import metrics as figures
from dcplan.specs.plan.limits import LIMITS, NO_CHANGE_USD
from dcplan.specs.plan.places.site import LEAD_TIMES
from dcplan.specs.plan.purchases import PURCHASES

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
    if result.verb != "plan" or not result.tables or result.status == SolveStatus.INFEASIBLE:
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


def on_same_question(result: Result, other: Result) -> bool:
    """Whether two answers have the same scenario, variant, changes and catalogs."""
    return all(other.scenario.get(key) == result.scenario.get(key) for key in SAME)


def _refuse_another(result: Result, other: Result) -> None:
    """Reject an answer on another scenario, variant, change or catalog."""
    if not on_same_question(result, other):
        msg = (
            f"the answer of {other.verb} is on another scenario, variant, --set or catalog than the "
            "plan: compute it again with those of the plan"
        )
        raise ValueError(msg)


def _money_and_dates(result: Result) -> Iterator[Block]:
    """Yield the figures that the decision rests on."""
    rows = [(f"{x.name}, {x.at}" if x.at else x.name, usd(x.value)) for x in money_of(result)]
    rows += [(x.name, str(x.value)) for x in dates_of(result)]
    yield Grid(("Figure", "Value"), tuple(rows), (False, True))


def _bought(result: Result) -> Iterator[Block]:
    """Yield the largest purchases by vendor and item."""
    lots = lots_of(result)
    if not lots:
        yield Note("The plan buys and rents nothing.")
        return
    rows = [
        (
            x.vendor,
            x.item,
            counted(x.quantity, x.unit),
            x.order or "before the plan",
            x.delivery,
            usd(x.amount_usd),
        )
        for x in lots[:MOST_PURCHASES]
    ]
    rest = lots[MOST_PURCHASES:]
    if rest:
        amount = usd(total_usd([x.amount_usd for x in rest]))
        rows.append((f"{len(rest)} more", "", "", "", "", amount))
    rows.append(("Total", "", "", "", "", usd(total_usd([x.amount_usd for x in lots]))))
    heads = ("Vendor", "Item", "Quantity", "Order", "In service", "Amount")
    yield Grid(heads, tuple(rows), (False, False, True, False, False, True))
    yield Note("Every purchase with its payments: `--export purchases`.")


def _risks(result: Result) -> Iterator[Block]:
    """Yield binding limits, lead times, the simulated range and failed expectations."""
    yield Items(tuple(_risk_lines(result)))


def _risk_lines(result: Result) -> Iterator[str]:
    basis = basis_of(result)
    limits = LIMITS.rows(result.tables[LIMITS.name]) if LIMITS.name in result.tables else []
    worth = [x for x in limits if x.cost_change_usd and abs(x.cost_change_usd) >= NO_CHANGE_USD]
    for row in sorted(worth, key=lambda x: -abs(x.cost_change_usd))[:MOST_LIMITS]:
        by = change(row.cost_change_usd)
        yield f"Binding limit: {row.limit}; {row.step} changes the net present cost{basis} by {by}."
    if not worth:
        yield "No binding limit has a price with the integer decisions unchanged."
    yield from _leads(result)
    low, high = (result.metrics.get(f"uncertainty.npv_usd_{p}") for p in ("p10", "p90"))
    if low is not None and high is not None:
        yield f"Simulated net present cost{basis}: P10 {usd(low.value)}, P90 {usd(high.value)}."
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

"""Embodied carbon of what a plan buys: metrics with the part of class values, and the table by item."""

from __future__ import annotations

from collections import defaultdict

from dcplan.energy.embodied import Footprint, embodied
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.audit.energy.embodied import Bought, bought
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.result import Metric, Table
from dcplan.specs.plan import metrics as specs
from dcplan.specs.sustainability import EMBODIED, EmbodiedRow

NAME = "Embodied carbon of purchases"
ROW, CLASS, UNKNOWN = "row of the product", "class of equipment", "no value known"


def embodied_metrics(problem: PlanningProblem, d: Decisions, books: Accounts) -> dict[str, Metric]:
    """Return embodied carbon of what the plan buys, and the part of it from class values.

    Without a value for any system it is empty: a sum without the largest part would mislead.
    """
    goods = bought(problem, d, books)
    if not problem.footprints.systems:
        return {**specs.EMBODIED_CARBON(None), **specs.EMBODIED_CLASS(None)}
    sums = embodied(x.total for x in goods if x.total is not None)
    label = (
        f"{NAME}, of which {sums.class_t:,.0f} t are class values "
        f"({sums.class_low_t:,.0f} to {sums.class_high_t:,.0f})"
    )
    return {
        **specs.EMBODIED_CARBON(sums.t, low=sums.low_t, high=sums.high_t, label=label),
        **specs.EMBODIED_CLASS(sums.class_t, low=sums.class_low_t, high=sums.class_high_t),
    }


def embodied_table(problem: PlanningProblem, d: Decisions, books: Accounts) -> Table:
    """Return the embodied carbon of a plan by site and item, all quarters together."""
    lots: dict[tuple[str, str, str, str], list[Bought]] = defaultdict(list)
    for x in bought(problem, d, books):
        lots[x.site, str(x.group), x.item, x.unit].append(x)
    rows = []
    for (site, group, item, unit), lot in lots.items():
        totals = [x.total for x in lot if x.total is not None]
        sums = embodied(totals) if totals else None
        rows.append(
            EmbodiedRow(
                site=site,
                group=group,
                item=item,
                quantity=sum(x.amount for x in lot),
                unit=unit,
                value=_source(totals),
                embodied_t=None if sums is None else sums.t,
                low_t=None if sums is None else sums.low_t,
                high_t=None if sums is None else sums.high_t,
            )
        )
    return EMBODIED.table(rows)


def _source(totals: list[Footprint]) -> str:
    if not totals:
        return UNKNOWN
    return CLASS if totals[0].by_class else ROW

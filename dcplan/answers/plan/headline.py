"""The headline of a plan: what to buy, rent, keep or sell, and what it costs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from dcplan.answers.plan.calendar import quarter_at
from dcplan.answers.plan.waiting import Waiting
from dcplan.economics.cash_flow import Flow, FlowGroup
from dcplan.planning.decisions import Decisions
from dcplan.planning.goal import MONEY
from dcplan.planning.problem.terms import Placement, PlanningProblem
from dcplan.planning.solve.solved import Solved
from dcplan.result import Metric
from dcplan.scenario.load import Question
from dcplan.specs.metric import MetricSpec
from dcplan.specs.plan import metrics as figures
from dcplan.units import HOURS_PER_DAY, HOURS_PER_QUARTER, MONTHS_PER_QUARTER, megawatts, money, si

NAMED = 2
"""Items of one action that the headline names; it counts the others."""
PAID = (figures.CAPEX, figures.ENERGY, figures.OPEX, figures.CLOUD, figures.AFTER)
"""Cash paid: every cost but unserved demand, before sales, taxes and debt."""
OPTIMAL = 1e-5
"""A gap below this is a proof that no plan is better."""
UNUSED = 0.05
"""Unused hours of commitments over used hours from which the headline names them."""
STATUS = {
    "incomplete": "search incomplete, ",
    "interrupted": "search interrupted, ",
    "expectation_failed": "an expectation failed, ",
}
"""What precedes the gap, by status."""


def headline(
    question: Question,
    solved: Solved,
    metrics: dict[str, Metric],
    status: str,
    waiting: Waiting | None = None,
) -> str:
    """Return the answer in one sentence."""

    def number(spec: MetricSpec, *ids: str) -> float:
        return float(metrics[spec.at(*ids)].value or 0.0)

    parts = [
        *_excess(solved.audit.given if solved.audit else ()),
        *_actions(solved),
        *_totals(solved, number(figures.ALL_ACCELERATORS), number(figures.ALL_RACKS)),
        f"USD {money(sum(map(number, PAID)))} paid, of which "
        f"USD {money(number(figures.CAPEX))} capital cost",
        f"USD {money(number(figures.NPV))} net present cost after "
        + _received(solved, number(figures.RESIDUAL)),
        *(
            [f"USD {money(number(figures.AFTER_TAX_NPV))} after taxes and debt"]
            if figures.AFTER_TAX_NPV.key in metrics
            else []
        ),
        *(
            [f"later starts would save at least USD {money(waiting.proved_usd)}"]
            if waiting and waiting.proved_usd
            else []
        ),
        f"{megawatts(number(figures.PEAK_FACILITY))} peak facility power",
        *(
            f"run {j.id} takes {number(figures.DAYS, j.id):.0f} days at {j.confidence:.0%} "
            "confidence"
            for j in solved.problem.jobs
            if figures.DAYS.at(j.id) in metrics
        ),
        STATUS.get(status, "") + quality(solved),
    ]
    return f"{question.scenario.name}: " + "; ".join(parts)


def _received(solved: Solved, total_usd: float) -> str:
    """Name what reduces the cost: money from sales, and the value of what is still owned."""
    flows = solved.audit.books.flows if solved.audit else ()
    sold = -sum(f.usd for f in flows if f.group is FlowGroup.RESIDUAL and not f.at_end)
    left = total_usd - sold
    kept = f"USD {money(left)} residual value"
    if not sold:
        return kept
    return f"USD {money(sold)} from sales" + (f" and {kept}" if round(left) else "")


def actions(problem: PlanningProblem, d: Decisions, flows: Sequence[Flow] = ()) -> list[str]:
    """Return what to buy, keep, sell, cancel and rent, a phrase each.

    Payments tell how much of a commitment is not used.
    """
    found = {
        "buy": _orders(problem, d),
        "use the given fleet of": _fleet(problem, d),
        "sell": _disposals(problem, d, in_service=True),
        "cancel": _disposals(problem, d, in_service=False),
        "rent": _rents(problem, d, flows),
    }
    return [f"{verb} {_listed(items)}" for verb, items in found.items() if items]


def _actions(solved: Solved) -> list[str]:
    if solved.decisions is None:
        return []
    flows = solved.audit.books.flows if solved.audit else ()
    return actions(solved.problem, solved.decisions, flows)


def counted(n: float, noun: str) -> str:
    """Write a number with its noun.

    Examples
    --------
    >>> counted(1, "rack"), counted(1200, "rack")
    ('1 rack', '1,200 racks')
    """
    return f"{n:,.0f} {noun}" + ("" if round(n) == 1 else "s")


def percent(frac: float) -> str:
    """Write a fraction in percent, with two digits below one percent.

    Examples
    --------
    >>> percent(0.00384), percent(0.0421), percent(1.5)
    ('0.38%', '4.2%', '150.0%')
    """
    return f"{100 * frac:.2g}%" if frac < 0.01 else f"{frac:.1%}"


def _listed(items: Sequence[str]) -> str:
    more = len(items) - NAMED
    return ", ".join(items[:NAMED]) + (f" and {more} more" if more > 0 else "")


def _excess(given: Sequence[str]) -> list[str]:
    if not given:
        return []
    return [f"the given decisions exceed {counted(len(given), 'limit')} ({given[0]})"]


def _totals(solved: Solved, accelerators: float, racks: float) -> list[str]:
    """Return the hardware in the last quarter, unless one order or fleet is all of it."""
    d = solved.decisions
    lots = len(_orders(solved.problem, d)) + len(_fleet(solved.problem, d)) if d else 0
    if lots < 2 and not solved.problem.existing:
        return []
    return [f"{accelerators:,.0f} accelerators in {counted(racks, 'rack')} in the last quarter"]


def _orders(problem: PlanningProblem, d: Decisions) -> list[str]:
    """Return the orders by system and hall, the largest first."""
    lots: dict[tuple[str, str], list[tuple[Placement, int, int]]] = defaultdict(list)
    leased: dict[tuple[str, str], int] = defaultdict(int)
    placed = {p.key: p for p in problem.placements}
    for (hall, cooling, system, t), n in d.ordered.items():
        if n:
            lots[system, hall].append((placed[hall, cooling, system], t, n))
            leased[system, hall] += d.leased_racks((hall, cooling, system, t))
    texts = []
    for (system, hall), lot in lots.items():
        accelerators = sum(n * p.accelerators for p, _, n in lot)
        words = {p.unit for p, _, _ in lot}
        total, away = sum(n for _, _, n in lot), leased[system, hall]
        racks = counted(total, words.pop() if len(words) == 1 else "rack")
        how = f", {'all' if away == total else away} on lease" if away else ""
        when = _span(problem, (t for _, t, _ in lot))
        texts.append(
            (
                -accelerators,
                f"{accelerators:,} accelerators ({racks} {system}{how}) for {hall} in {when}",
            )
        )
    return [text for _, text in sorted(texts)]


def _fleet(problem: PlanningProblem, d: Decisions) -> list[str]:
    placed = {p.key: p for p in problem.placements}
    return [
        f"{n * placed[key].accelerators:,} accelerators ({counted(n, placed[key].unit)} {key[2]}) in {key[0]}"
        for key, n in sorted(d.fleet.items())
        if n
    ]


def _disposals(problem: PlanningProblem, d: Decisions, *, in_service: bool) -> list[str]:
    """Return what is sold of existing hardware, or cancelled of hardware on order."""
    placed = {p.key: p for p in problem.placements}
    texts = []
    for x in problem.existing:
        lots = {t: n for (i, t), n in d.disposed.items() if i == x.id and n}
        if not lots or (x.cancel_usd is None) != in_service:
            continue
        racks, place = sum(lots.values()), placed[x.key]
        what = counted(racks, "rack") if place.nodes == 1 else counted(racks * place.nodes, "node")
        fee = racks * (x.cancel_usd or 0.0)
        if in_service:
            usd = f" for USD {money(sum(n * x.resale_usd[t] for t, n in lots.items()))}"
        else:  # more may have been paid ahead than the fee
            usd = f" with USD {money(-fee)} back" if fee < 0.0 else f" at USD {money(fee)}"
        texts.append(f"{what} {place.system} ({x.id}){usd} in {_span(problem, lots)}")
    return texts


def _rents(problem: PlanningProblem, d: Decisions, flows: Sequence[Flow]) -> list[str]:
    """Return the rented accelerator-hours by offer, the largest first, with those paid in vain."""
    hours: dict[str, float] = defaultdict(float)
    quarters: dict[str, set[int]] = defaultdict(set)
    share = {x.id: x.rented_hours_frac for x in problem.demands}
    for (demand, offer, t), n in d.rented.items():
        if n:
            hours[offer] += n * HOURS_PER_QUARTER * share[demand]
            quarters[offer].add(t)
    for run in d.runs:
        if run.on_cloud:
            offer = run.place.removeprefix("cloud:")
            hours[offer] += run.accelerators * run.days * HOURS_PER_DAY
            quarters[offer].add(run.start_month // MONTHS_PER_QUARTER)
    texts = []
    for offer, n in sorted(hours.items(), key=lambda item: -item[1]):
        idle = _unused_h(flows, offer)
        more = (
            f" (commitments pay {si(idle)} more without use in this plan)"
            if idle >= UNUSED * n
            else ""
        )
        when = quarter_at(problem, min(quarters[offer]))
        texts.append(f"{si(n)} accelerator-hours of {offer} from {when}{more}")
    return texts


def _unused_h(flows: Sequence[Flow], offer: str) -> float:
    """Return the hours of an offer's commitments without use, those after the horizon included."""
    return sum(
        f.goods.quantity - f.goods.used
        for f in flows
        if f.offer == offer and f.goods is not None and f.goods.used is not None
    )


def _span(problem: PlanningProblem, quarters: Iterable[int]) -> str:
    found = sorted(quarters)
    first, last = quarter_at(problem, found[0]), quarter_at(problem, found[-1])
    return first if first == last else f"{first} to {last}"


def quality(solved: Solved) -> str:
    """Return how far the plan may be from the best one."""
    best = "cost" if solved.problem.goal.measure in MONEY else "value of the objective"
    if solved.gap_frac < OPTIMAL:
        return f"proven best possible {best}"
    return f"within {percent(solved.gap_frac)} of the best possible {best}"

"""Links of a plan between halls: their checks, power and payments, recomputed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from dcplan.economics.cash_flow import (
    AssetClass,
    Charge,
    Driver,
    Flow,
    FlowGroup,
    Goods,
    Sharing,
    Unit,
)
from dcplan.planning.audit.check import Check
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.terms.links import LinkTerms
from dcplan.planning.problem.work.terms import RunOption
from dcplan.units import DAYS_PER_MONTH, MONTHS_PER_QUARTER


def link_checks(problem: PlanningProblem, d: Decisions) -> Iterable[Check]:
    """Check that runs over several halls are complete, and that one run at a time has an end."""
    yield from _complete(d)
    for link in problem.links:
        for hall in link.ends:
            on = [d.links.get((link.id, hall, t), 0) for t in range(problem.quarters)]
            where = f"{link.id} {hall}"
            for t in range(problem.quarters):
                before = on[t - 1] if t else 0
                yield Check(CheckId.LINK_STAYS, where, t, before, on[t])
                early = on[t] if t < link.first else 0
                yield Check(CheckId.LINK_BEFORE_LEAD_TIME, where, t, early, 0)
            runs = [r for r in d.runs if r.place == hall and link.id in _links(r)]
            for month in range(problem.quarters * MONTHS_PER_QUARTER):
                using = sum(_uses(r, month) for r in runs)
                if using:
                    t = month // MONTHS_PER_QUARTER
                    yield Check(CheckId.RUNS_ON_LINK, where, t, using, on[t])


def _complete(d: Decisions) -> Iterator[Check]:
    """Check that each run over several halls has all its parts, with equal amounts."""
    found: dict[str, list[RunOption]] = defaultdict(list)
    for run in d.runs:
        if run.part is not None:
            found[run.part.run].append(run)
    for parts in found.values():
        first = parts[0]
        missing = first.parts - len({r.place for r in parts})
        uneven = sum(
            (r.accelerators, r.start_month, r.days)
            != (first.accelerators, first.start_month, first.days)
            for r in parts
        )
        yield Check(CheckId.PARTS_OF_RUN, first.job, 0, missing + uneven, 0)


def _links(run: RunOption) -> tuple[str, ...]:
    return run.part.links if run.part is not None else ()


def _uses(run: RunOption, month: int) -> bool:
    """Return whether a run has its links in a month."""
    begin, end = month * DAYS_PER_MONTH, (month + 1) * DAYS_PER_MONTH
    first = run.start_month * DAYS_PER_MONTH
    return first < end - 1e-9 and first + run.days > begin + 1e-9


def link_kw(problem: PlanningProblem, d: Decisions, hall: str, t: int) -> float:
    """Return the power of the equipment of links in a hall [kW]."""
    return sum(
        link.kw * d.links.get((link.id, hall, t), 0) for link in problem.links if hall in link.ends
    )


def link_flows(problem: PlanningProblem, d: Decisions) -> list[Flow]:
    """Return the price of the ends of links, and their lease."""
    flows = []
    for link in problem.links:
        for hall in link.ends:
            site = hall.partition("/")[0]
            for t in range(problem.quarters):
                on = d.links.get((link.id, hall, t), 0)
                before = d.links.get((link.id, hall, t - 1), 0) if t else 0
                if on > before:
                    flows.append(_bought(problem, d, link, hall, site, t))
                usd = problem.finance.level(t) * link.usd_per_quarter * on
                if usd:
                    months = Goods(link.id, MONTHS_PER_QUARTER, Unit.MONTH, hall)
                    use = _sharing(d, link, hall)
                    flows.append(
                        Flow(
                            *(t, FlowGroup.OPEX, Charge.LINK, usd, site),
                            asset=AssetClass.OTHER,
                            shared=use,
                            goods=months,
                        )
                    )
    return flows


def _bought(
    problem: PlanningProblem, d: Decisions, link: LinkTerms, hall: str, site: str, t: int
) -> Flow:
    network = AssetClass.NETWORK
    life = problem.finance.life_months(network)
    goods = Goods(link.id, 1, Unit.LOT, hall, t, life_months=life)
    use = _sharing(d, link, hall, (t, problem.quarters))
    return Flow(
        *(t, FlowGroup.CAPEX, f"link {link.id}", link.usd, site),
        asset=network,
        shared=use,
        goods=goods,
    )


def _sharing(
    d: Decisions, link: LinkTerms, hall: str, serves: tuple[int, int] | None = None
) -> Sharing:
    """Return who bears the end of a link: its only job, or the work of the hall."""
    jobs = {r.job for r in d.runs if r.place == hall and link.id in _links(r)}
    if len(jobs) == 1:
        return Sharing(Driver.USER, (hall,), next(iter(jobs)), serves)
    return Sharing(Driver.HOURS, (hall,), serves=serves)

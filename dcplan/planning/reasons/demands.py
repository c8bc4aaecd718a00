"""Reasons why a demand cannot be served: latency, places, and hardware that comes too late."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from dcplan.errors import Problem
from dcplan.inputs.cloud_prices import cloud_place
from dcplan.inputs.excluded import ExcludedOption, Kind
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.terms import DemandTerms
from dcplan.scenario.load import Question
from dcplan.scenario.schema import demand_path
from dcplan.units import TOKENS_PER_KTOKEN, quarter_index, quarter_name

WORK = frozenset({Kind.CAPACITY, Kind.INFERENCE, Kind.QUEUE})
"""Kinds of the options that are excluded for one demand."""


def best_supply(problem: PlanningProblem, demand: DemandTerms, t: int) -> float:
    """Return an upper bound on the supply of a demand in a quarter.

    It counts full halls of the best system that can be delivered by then, existing and on-order
    hardware, and all offers. A demand with several parts has the sum of their bounds.
    """
    return sum(x.share * _best_part(problem, x, t) for x in problem.demand_parts(demand.id))


def _best_part(problem: PlanningProblem, demand: DemandTerms, t: int) -> float:
    """Return an upper bound on the supply of one part of a demand."""
    best: dict[str, float] = defaultdict(float)
    for p in problem.placements:
        rate = demand.each.get((p.hall, p.system), 0.0)
        given = problem.fleet and (problem.fleet.hall, problem.fleet.system) == (p.hall, p.system)
        reachable = given or (p.system in problem.orderable and p.first_order + p.lead <= t)
        hall = problem.hall(p.hall)
        if reachable and t >= hall.opens(p.cooling):
            best[p.hall] = max(best[p.hall], rate * p.accelerators * p.max_racks_unit * hall.count)
    size = {p.key: p.accelerators for p in problem.placements}
    existing = sum(
        demand.each.get((x.key[0], x.key[2]), 0.0) * size.get(x.key, 0) * x.racks
        for x in problem.existing
        if x.serves(t)
    )
    cloud = sum(
        o.max_accelerators * demand.each.get((cloud_place(o.id), o.accelerator), 0.0)
        for o in problem.offers
    )
    if problem.cloud_max_accelerators is not None:
        rates = [demand.each.get((cloud_place(o.id), o.accelerator), 0.0) for o in problem.offers]
        cloud = min(cloud, problem.cloud_max_accelerators * max(rates, default=0.0))
    return sum(best.values()) + existing + cloud


def demand_problems(question: Question, problem: PlanningProblem) -> list[Problem]:
    """Return a problem for each demand that nothing can serve in full."""
    problems = list(_latency(question, problem))
    late = {x.workload for x in problem.nearest}
    reported: set[str] = set()
    for demand in problem.required:
        if demand.unmet_usd is not None or demand.workload_id in late:
            continue
        found = _one_site(question, problem, demand) or _no_place(question, problem, demand)
        # the parts and periods of one load have the same cause
        known = demand.load_id in reported
        if found is None:
            found = _short_quarter(question, problem, demand)
            known = known and bool(demand.load)
        if found is None:
            continue
        if not known:
            problems.append(found)
        reported.add(demand.load_id)
    return problems


def _one_site(question: Question, problem: PlanningProblem, demand: DemandTerms) -> Problem | None:
    """Return the problem of a demand that needs a second site and has one site only."""
    alone = _only_site(problem, demand)
    if not alone:
        return None
    i = [x.id for x in question.scenario.workloads.inference].index(demand.workload_id)
    path = ("workloads", "inference", i, "kept_frac_without_site")
    cause = f"{demand.load_id}: only {alone} may serve it, so nothing is served without it"
    help_text = "allow another site or cloud offer, or set kept_frac_without_site to 0"
    return question.tree.problem("DC030", cause, path, help=help_text)


def _no_place(question: Question, problem: PlanningProblem, demand: DemandTerms) -> Problem | None:
    """Return the problem of a demand that no allowed hardware may serve."""
    nowhere = _nowhere(problem, demand)
    if not nowhere:
        return None
    path = demand_path(demand.workload_id, question.scenario)
    cause = f"{demand.load_id}: nothing that is allowed may serve it: {nowhere}"
    help_text = (
        "allow other systems, sites, countries or cloud offers, or relax the limit that is named"
    )
    return question.tree.problem("DC030", cause, path, help=help_text)


def _short_quarter(
    question: Question, problem: PlanningProblem, demand: DemandTerms
) -> Problem | None:
    """Return the problem of the first quarter in which a demand exceeds the best supply."""
    for t, wanted in enumerate(demand.wanted):
        most = best_supply(problem, demand, t)
        if wanted <= most * (1 + 1e-9):
            continue
        quarter = quarter_name(quarter_index(problem.start) + t)
        path = (*demand_path(demand.workload_id, question.scenario), t)
        cause = _shortage(demand, wanted, most, quarter)
        help_text = "lower the demand, start halls or hardware earlier, or allow cloud offers"
        first = _first_service(problem, demand)
        if not most and t < first:
            begin = quarter_name(quarter_index(problem.start) + first)
            cause += f"; hardware ordered in this plan serves from {begin} on (lead time)"
            help_text = (
                f"let the demand begin in {begin}, with 0 in the quarters before, or give assets "
                "or cloud offers"
            )
        return question.tree.problem("DC030", cause, path, help=help_text)
    return None


def _only_site(problem: PlanningProblem, demand: DemandTerms) -> str:
    """Return the only site that may serve a demand that needs another one; empty otherwise."""
    if not demand.kept_frac_without_site or not any(demand.wanted):
        return ""
    halls = {h.id: h.site for h in problem.halls}
    places = {key[0] for x in problem.demand_parts(demand.id) for key in x.each}
    sites = {halls.get(place, place) for place in places}
    return sites.pop() if len(sites) == 1 else ""


def _nowhere(problem: PlanningProblem, demand: DemandTerms) -> str:
    """Return why no hardware may serve a demand; empty if some may."""
    if not any(demand.wanted) or any(x.each for x in problem.demand_parts(demand.id)):
        return ""
    names = (demand.load_id, demand.workload_id)
    own = [x for x in problem.excluded if x.kind in WORK and x.id in names]
    lost = own or [x for x in problem.excluded if x.kind is Kind.SYSTEM]
    shown = "; ".join(dict.fromkeys(_reason(x) for x in lost[:3]))
    more = f" (and {len(lost) - 3} more)" if len(lost) > 3 else ""
    return f"{shown}{more}" or "the plan has no systems and no cloud offers"


def _reason(option: ExcludedOption) -> str:
    """Return why an option of a demand is excluded."""
    names = [option.id] if option.kind is Kind.SYSTEM else []
    return f"{' '.join(filter(None, [*names, option.where]))}: {option.reason}"


def _first_service(problem: PlanningProblem, demand: DemandTerms) -> int:
    """Return the first quarter in which ordered hardware may serve a demand."""
    keys = {key for x in problem.demand_parts(demand.id) for key in x.each}
    able = [p for p in problem.placements if (p.hall, p.system) in keys]
    return min((p.first_order + p.lead for p in able), default=0)


def _shortage(demand: DemandTerms, wanted: float, most: float, quarter: str) -> str:
    """Return what a demand requires in a quarter and what is possible at most."""
    if demand.load:
        asked, able = (x * TOKENS_PER_KTOKEN for x in (wanted, most))
        part = "" if demand.period is None else f" (period {demand.period + 1} of the week)"
        return (
            f"{demand.load}: {asked:,.0f} output tokens/s required in {quarter}{part}, and all halls "
            f"and offers serve at most {able:,.0f}"
        )
    return (
        f"{demand.id}: {wanted:g} {demand.unit} required in {quarter}, at most {most:.4g} possible"
    )


def _latency(question: Question, problem: PlanningProblem) -> Iterator[Problem]:
    """Yield the services whose latency limits no allowed hardware meets."""
    services = question.scenario.workloads.inference
    for near in problem.nearest:
        i = [x.id for x in services].index(near.workload)
        slo = services[i].slo
        if slo is None or services[i].usd_per_unmet_quarter is not None:
            continue
        cause = (
            f"{near.workload}: no allowed system or offer meets ttft_ms {slo.ttft_ms.value:g} and "
            f"tpot_ms {slo.tpot_ms.value:g} for {slo.quantile:.0%} of the requests; the nearest is "
            f"{near.system} in {near.precision}, with {near.ttft_ms:,.1f} ms and "
            f"{near.tpot_ms:,.2f} ms for one request alone"
        )
        help_text = "raise the limits of slo, or allow other systems, offers or precisions"
        path = ("workloads", "inference", i, "slo")
        yield question.tree.problem("DC034", cause, path, help=help_text)

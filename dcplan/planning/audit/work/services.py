"""Checks of services: complete replicas with spares, balanced pools, and the loss of a site."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from dcplan.inputs.cloud_prices import cloud_place
from dcplan.planning.audit.check import Check
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.terms import DemandTerms


def service_checks(problem: PlanningProblem, d: Decisions) -> Iterable[Check]:
    """Check the replicas of each service, the pools of each pair and the loss of each site."""
    terms = {x.id: x for x in problem.demands}
    for index, used in d.serving.items():
        c, hall, _, system, t = index
        replica = terms[c].replica.get((hall, system))
        if replica is not None:
            there = d.replicas.get((terms[c].peak_id, *index[1:]), 0) - terms[c].spare_replicas
            yield Check(
                CheckId.REPLICAS_BUSY,
                f"{c} {hall} {system}",
                t,
                used,
                max(there, 0) * replica.accelerators,
            )
    for pair in problem.pairs:
        first, second = (_amounts(problem, d, terms[x]) for x in (pair.prefill, pair.decode))
        for (t, place), decoded in second.items():
            yield Check(
                CheckId.POOLS_BALANCE, f"{pair.decode} {place}", t, decoded, first[t, place]
            )
    for demand in problem.required:
        if demand.kept_frac_without_site:
            yield from _site_checks(problem, d, demand)


def highest_demands(problem: PlanningProblem) -> set[str]:
    """Return the ids of the demands with the highest load of each service, and of their pools."""
    best: dict[str, DemandTerms] = {}
    for x in problem.required:
        if not x.replica and not any(y.replica for y in problem.demand_parts(x.id)):
            continue
        group = x.load_id
        if group not in best or max(x.wanted) > max(best[group].wanted):
            best[group] = x
    rows = {x.id for x in best.values()}
    return {x.id for x in problem.demands if x.row_id in rows}


def _amounts(
    problem: PlanningProblem, d: Decisions, demand: DemandTerms
) -> dict[tuple[int, str], float]:
    """Return what serves a demand by quarter and hall or offer, in its unit."""
    found: dict[tuple[int, str], float] = defaultdict(float)
    for (c, h, _, k, t), x in d.serving.items():
        if c == demand.id:
            found[t, h] += x * demand.each[h, k]
    for o in problem.offers:
        each = demand.each.get((cloud_place(o.id), o.accelerator), 0.0)
        for t in range(problem.quarters):
            x = d.rented.get((demand.id, o.id, t), 0.0)
            if x:
                found[t, cloud_place(o.id)] += x * each
    return found


def _site_checks(problem: PlanningProblem, d: Decisions, demand: DemandTerms) -> Iterable[Check]:
    by_site: dict[tuple[int, str], float] = defaultdict(float)
    site_of = {h.id: h.site for h in problem.halls}
    for part in problem.demand_parts(demand.id):
        for (t, place), x in _amounts(problem, d, part).items():
            by_site[t, site_of.get(place, "")] += part.share * x
    for t, wanted in enumerate(demand.wanted):
        total = sum(x for (q, _), x in by_site.items() if q == t)
        given_up = d.unmet.get((demand.id, t), 0.0)
        for site in problem.sites:
            if (t, site.id) in by_site:
                yield Check(
                    CheckId.DEMAND_WITHOUT_SITE,
                    f"{demand.id} {site.id}",
                    t,
                    demand.kept_frac_without_site * wanted - given_up,
                    total - by_site[t, site.id],
                    subject=demand.unit,
                )

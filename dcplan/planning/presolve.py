"""Checks before the solver runs.

They find the most common reasons why no plan exists, each with its place and remedy.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator

from dcplan.errors import Problem
from dcplan.inputs.cloud_prices import cloud_place
from dcplan.inputs.excluded import Cause, ExcludedOption, Kind
from dcplan.planning.problem.build import Built
from dcplan.planning.problem.terms import Placement, PlanningProblem
from dcplan.planning.problem.work.terms import DemandTerms
from dcplan.provenance import Path
from dcplan.scenario.load import Question
from dcplan.scenario.schema import PostTrainingJob, ScheduledJob, demand_path, job_path
from dcplan.units import KW_PER_MW, TOKENS_PER_KTOKEN, quarter_index, quarter_name


def presolve(question: Question, built: Built) -> list[Problem]:
    """Return all reasons found without solving; an empty list does not prove that a plan exists."""
    problem = built.problem
    problems = _jobs(question, problem)
    problems += _capacity(question, problem)
    problems += _fleet(question, problem)
    problems += _existing(question, problem)
    return problems


def _jobs(question: Question, problem: PlanningProblem) -> list[Problem]:
    able = {c.job for c in problem.run_options}
    problems = []
    for job in question.scenario.workloads.jobs:
        if job.id in able:
            continue
        reasons = [x for x in problem.excluded if x.kind is Kind.JOB and x.id == job.id]
        memory = bool(reasons) and all(x.cause is Cause.MEMORY for x in reasons)
        unsupported = bool(reasons) and all(x.cause is Cause.UNSUPPORTED for x in reasons)
        words = list(
            dict.fromkeys(f"{x.where}: {x.reason}{_serves_from(problem, x)}" for x in reasons)
        )
        shown = (
            "; ".join(words[:4]) or _unplaced(problem) or "none of the available systems may run it"
        )
        more = f" (and {len(words) - 4} more)" if len(words) > 4 else ""
        code = "DC015" if unsupported else "DC032" if memory or not reasons else "DC031"
        what = (
            "the model does not fit in the memory of any system"
            if memory
            else "no system supports its software and precision"
            if unsupported
            else "no run option meets its deadline"
            if reasons
            else "no system or offer can run it"
        )
        key = next((k for k in ("deadline_days", "deadline") if getattr(job, k) is not None), "id")
        help_text = "allow a later deadline, more power or racks, more systems, or cloud offers"
        if unsupported:
            key, help_text = _unsupported(job)
        where = (*job_path(job.id, question.scenario), key)
        problems.append(
            question.tree.problem(code, f"{job.id}: {what}: {shown}{more}", where, help=help_text)
        )
    return problems


def _serves_from(problem: PlanningProblem, option: ExcludedOption) -> str:
    """Return when the hardware of an option that is too late serves, if it does not yet."""
    if option.cause is not Cause.LATE:
        return ""
    for p in problem.placements:
        if f"{p.hall} {p.system}" == option.where:
            quarter = _first_of(problem, p)
            if 0 < quarter < problem.quarters:
                name = quarter_name(quarter_index(problem.start) + quarter)
                return f"; the hardware serves from {name}"
    return ""


def _first_of(problem: PlanningProblem, placed: Placement) -> int:
    """Return the first quarter in which a placement has existing, ordered or new racks."""
    fleet = problem.fleet
    if fleet and (fleet.hall, fleet.system) == (placed.hall, placed.system):
        return 0
    firsts = [x.first for x in problem.existing if x.key == placed.key]
    if placed.system in problem.orderable:
        firsts.append(placed.first_order + placed.lead)
    opens = problem.hall(placed.hall).opens(placed.cooling)
    return max(min(firsts, default=problem.quarters), opens)


def _unsupported(job: ScheduledJob) -> tuple[str, str]:
    """Return the field of a job that no system supports, and what to do."""
    if isinstance(job, PostTrainingJob) and (job.rl.rollout_precision or job.rl.rollout_tp):
        return "rl", "choose a layout and a precision of the rollout engines that a system supports"
    key = "stack" if job.stack is not None else "precision"
    return key, "choose a stack and a precision that a system supports, or other systems"


def _unplaced(problem: PlanningProblem) -> str:
    """Return why the systems have no place, if no system has one."""
    if problem.placements:
        return ""
    lost = [x for x in problem.excluded if x.kind is Kind.SYSTEM]
    return "; ".join(dict.fromkeys(f"{x.id}: {x.reason}" for x in lost[:4]))


def best_supply(problem: PlanningProblem, demand: DemandTerms, t: int) -> float:
    """Return an upper bound on the supply of a demand in a quarter.

    It counts full halls of the best system that can be delivered by then, existing and on-order
    hardware, and all offers. A demand with several parts has the sum of their bounds.
    """
    return sum(x.share * _best_part(problem, x, t) for x in problem.demand_parts(demand.id))


def _best_part(problem: PlanningProblem, demand: DemandTerms, t: int) -> float:
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


def _capacity(question: Question, problem: PlanningProblem) -> list[Problem]:
    problems = list(_latency(question, problem))
    late = {x.workload for x in problem.nearest}
    lonely: set[str] = set()
    for demand in problem.required:
        if demand.unmet_usd is not None or demand.workload_id in late:
            continue
        alone = _only_site(problem, demand)
        if alone:
            if demand.load_id in lonely:
                continue
            lonely.add(demand.load_id)
            i = [x.id for x in question.scenario.workloads.inference].index(demand.workload_id)
            path = ("workloads", "inference", i, "kept_frac_without_site")
            cause = f"{demand.load_id}: only {alone} may serve it, so nothing is served without it"
            help_text = "allow another site or cloud offer, or set kept_frac_without_site to 0"
            problems.append(question.tree.problem("DC030", cause, path, help=help_text))
            continue
        nowhere = _nowhere(problem, demand)
        if nowhere:
            if demand.load_id not in lonely:
                lonely.add(demand.load_id)
                key = demand_path(demand.workload_id, question.scenario)
                cause = f"{demand.load_id}: nothing that is allowed may serve it: {nowhere}"
                help_text = (
                    "allow other systems, sites, countries or cloud offers, or relax its limits"
                )
                problems.append(question.tree.problem("DC030", cause, key, help=help_text))
            continue
        for t, wanted in enumerate(demand.wanted):
            most = best_supply(problem, demand, t)
            if wanted > most * (1 + 1e-9):
                quarter = quarter_name(quarter_index(problem.start) + t)
                key = (*demand_path(demand.workload_id, question.scenario), t)
                help_text = (
                    "lower the demand, start halls or hardware earlier, or allow cloud offers"
                )
                cause = _shortage(demand, wanted, most, quarter)
                first = _first_service(problem, demand)
                if not most and t < first:
                    begin = quarter_name(quarter_index(problem.start) + first)
                    cause += f"; hardware ordered in this plan serves from {begin} on (lead time)"
                    help_text = (
                        f"let the demand begin in {begin}, with 0 in the quarters before, or give assets "
                        "or cloud offers"
                    )
                # the periods of one load have the same cause
                if not demand.load or demand.load_id not in lonely:
                    problems.append(question.tree.problem("DC030", cause, key, help=help_text))
                lonely.add(demand.load_id)
                break
    return problems


def _only_site(problem: PlanningProblem, demand: DemandTerms) -> str:
    """Return the only site that may serve a demand that needs another one; empty otherwise."""
    if not demand.kept_frac_without_site or not any(demand.wanted):
        return ""
    halls = {h.id: h.site for h in problem.halls}
    places = {key[0] for x in problem.demand_parts(demand.id) for key in x.each}
    sites = {halls.get(place, place) for place in places}
    return sites.pop() if len(sites) == 1 else ""


def _nowhere(problem: PlanningProblem, demand: DemandTerms) -> str:
    """Return why no hardware may serve a service; empty if some may."""
    if not demand.load or not any(demand.wanted):
        return ""
    if any(x.each for x in problem.demand_parts(demand.id)):
        return ""
    names = (demand.load_id, demand.workload_id)
    lost = [x for x in problem.excluded if x.kind is Kind.INFERENCE and x.id in names]
    shown = "; ".join(dict.fromkeys(f"{x.where}: {x.reason}" for x in lost[:3]))
    more = f" (and {len(lost) - 3} more)" if len(lost) > 3 else ""
    return f"{shown}{more}" or "the plan has no systems and no cloud offers"


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


def _fleet(question: Question, problem: PlanningProblem) -> list[Problem]:
    fleet = problem.fleet
    if fleet is None:
        return []
    hall = problem.hall(fleet.hall)
    placed = [p for p in problem.placements if (p.hall, p.system) == (fleet.hall, fleet.system)]
    if not placed:
        why = next((f": {x.reason}" for x in problem.excluded if x.id == fleet.system), "")
        cause = f"no fabric can connect the fleet of {fleet.system}{why}"
        return [
            question.tree.problem(
                "DC033",
                cause,
                ("fleet",),
                help="give `fabric:` or `fabrics:` for its port rate and protocol",
            )
        ]
    n = fleet.accelerators
    slots = math.ceil(min(p.slots * n / p.accelerators for p in placed))
    power = (
        min(p.rated_kw * hall.cooling(p.cooling).peak_pue * n / p.accelerators for p in placed)
        / KW_PER_MW
    )
    site = problem.site(hall.site)
    plants = sum(o.unit_mw * o.most_units for o in site.onsite if not o.weather and o.lead == 0)
    first = sum(x.mw[0] for x in site.tranches) + plants
    utility = site.utility_mw[0] + first
    problems = []
    if slots > hall.racks * hall.count:
        cause = (
            f"the fleet needs {slots} rack positions, but {hall.id} has {hall.racks * hall.count}"
        )
        problems.append(question.tree.problem("DC033", cause, ("fleet", "accelerators")))
    ports = min(math.ceil(n / p.accelerators) * p.ports for p in placed)
    classes = {p.port_class for p in placed}
    reach = max(
        (o.reach.get(c, 0) for o in problem.fabrics if o.hall == hall.id for c in classes),
        default=0,
    )
    if ports > reach:
        cause = f"the fleet has {ports:,} NIC ports, but the largest allowed network in {hall.id} reaches {reach:,}"
        help_text = "allow more tiers or planes, larger switches, or oversubscription"
        problems.append(
            question.tree.problem("DC033", cause, ("fleet", "accelerators"), help=help_text)
        )
    if power > utility:
        cause = (
            f"the fleet needs {power:.4g} MW on the design day, but {hall.site} has {utility:g} MW"
        )
        problems.append(question.tree.problem("DC033", cause, ("fleet", "accelerators")))
    return problems


def _existing(question: Question, problem: PlanningProblem) -> list[Problem]:
    """Find assets in a hall that is not yet available, and hardware that exceeds its hall."""
    placed = {p.key: p for p in problem.placements}
    problems = []
    for hall in problem.halls:
        mine = [x for x in problem.existing if x.key[0] == hall.id]
        first = next((x for x in mine if x.in_service), None)
        if first is not None and hall.available_from > 0:
            cause = f"{first.id} is in {hall.id}, which is available only from a later quarter"
            problems.append(
                question.tree.problem("DC033", cause, _existing_path(question, first.id))
            )
        staying = [x for x in mine if x.in_service or not x.disposal_window]
        slots = sum(placed[x.key].slots * x.racks for x in staying)
        mw = (
            sum((placed[x.key].rated_kw + placed[x.key].overhead_kw) * x.racks for x in staying)
            / KW_PER_MW
        )
        now = hall.start or hall
        for what, need, have in (
            ("rack positions", slots, float(now.racks * hall.count)),
            ("MW of IT", mw, now.it_mw * hall.count),
        ):
            if need > have * (1 + 1e-9):
                names = ", ".join(x.id for x in staying)
                cause = f"{names}: existing and on-order hardware needs {need:.4g} {what}, but {hall.id} has {have:.4g}"
                help_text = (
                    "correct the hall or the hardware, or give orders a cancellation_fee_frac"
                )
                where = _existing_path(question, staying[0].id)
                problems.append(question.tree.problem("DC033", cause, where, help=help_text))
    return problems


def _existing_path(question: Question, key: str) -> Path:
    kinds = {"assets": question.scenario.assets, "orders": question.scenario.orders}
    return next(
        (kind, i) for kind, found in kinds.items() for i, x in enumerate(found) if x.id == key
    )

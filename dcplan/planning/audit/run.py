"""The audit of a plan: values against the catalog, exact accounts, every check, audited cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dcplan.economics.cash_flow import npv_usd
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.audit.check import Check
from dcplan.planning.audit.checks import all_checks
from dcplan.planning.audit.energy.contracts import with_used_energy
from dcplan.planning.audit.facts import differences
from dcplan.planning.audit.measures import served
from dcplan.planning.audit.onsite import redispatched
from dcplan.planning.decisions import TINY, Decisions
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.scenario.load import Question
from dcplan.units import quarter_index, quarter_name

if TYPE_CHECKING:
    from dcplan.planning.audit.work.latency import ServiceLatency
    from dcplan.planning.audit.work.queue import QueueState


@dataclass(frozen=True)
class Audit:
    """Result of the audit."""

    books: Accounts
    checks: tuple[Check, ...]
    npv_usd: float
    problems: tuple[str, ...]
    given: tuple[str, ...]
    latencies: tuple[ServiceLatency, ...] = ()
    queues: tuple[QueueState, ...] = ()
    networked: bool = True
    """Whether the networks of the plan exist; if not, nothing else is checked."""

    @property
    def broken(self) -> list[Check]:
        """Return the violated checks, except those of given decisions."""
        return [c for c in self.checks if not c.holds and not c.given]

    @property
    def unrounded(self) -> bool:
        """Return whether the plan contradicts the catalog, which no rounding of counts explains."""
        return self.networked and len(self.problems) > len(self.broken)

    @property
    def passed(self) -> bool:
        """Return whether the plan may be shown."""
        return not self.problems


def settled(problem: PlanningProblem, decisions: Decisions) -> Decisions:
    """Return the decisions with the consequences of integer switch counts, and no surplus of rent.

    Switch counts change the energy that on-site plants must generate, and what is used of contracts.
    """
    decisions = without_surplus(problem, decisions)
    if not any(s.onsite or s.contracts for s in problem.sites):
        return decisions
    try:
        books = make_accounts(problem, decisions)
    except ValueError:  # the network does not exist; the audit reports it
        return decisions
    decisions = redispatched(
        problem, decisions, lambda site, t: books.site(problem, site, t, "facility_mwh")
    )
    loads = {
        (s.id, t): books.site(problem, s.id, t, "facility_mwh")
        for s in problem.sites
        for t in range(problem.quarters)
    }
    return with_used_energy(problem, decisions, loads)


def without_surplus(problem: PlanningProblem, decisions: Decisions) -> Decisions:
    """Return the decisions with rent for no more than each demand, which commitments make free.

    What commitments then leave unused is idle, and no workload bears it.
    """
    rented = dict(decisions.rented)
    for demand in (x for x in problem.required if not x.kept_frac_without_site):
        parts = [x for x in problem.demand_parts(demand.id) if x.share]
        for t, wanted in enumerate(demand.wanted):
            owned, from_offers = served(problem, decisions, demand, t)
            if owned + from_offers <= wanted or not from_offers:
                continue
            kept = max(wanted - owned, 0.0) / from_offers
            for part in parts:
                for o in problem.offers:
                    if (part.id, o.id, t) in rented:
                        rented[part.id, o.id, t] *= kept
    return replace(decisions, rented={key: x for key, x in rented.items() if x > TINY})


def audit(problem: PlanningProblem, decisions: Decisions, question: Question) -> Audit:
    """Recompute a plan and list its violations; a wrong plan never raises an error."""
    try:
        books = make_accounts(problem, decisions)
    except ValueError as error:
        return Audit(Accounts(), (), 0.0, (f"network: {error}",), (), networked=False)
    latencies, in_time = _latencies(problem, decisions, question)
    queues, waits = _queues(problem, decisions, question)
    checks = (*all_checks(problem, decisions, books), *in_time, *waits)
    broken = [c for c in checks if not c.holds]
    keys = [
        *decisions.fleet,
        *(x.key for x in problem.existing),
        *((h, c, k) for h, c, k, _ in decisions.ordered),
    ]
    problems = [_sentence(problem, c) for c in broken if not c.given]
    problems += differences(problem, question, keys)
    return Audit(
        books=books,
        checks=checks,
        npv_usd=npv_usd(books.flows, problem.finance.discount_rate),
        problems=tuple(problems),
        given=_merged(problem, [c for c in broken if c.given]),
        latencies=latencies,
        queues=queues,
    )


def _latencies(
    problem: PlanningProblem, decisions: Decisions, question: Question
) -> tuple[tuple[ServiceLatency, ...], tuple[Check, ...]]:
    """Return the latency of the services with replicas, and its checks."""
    if not any(x.replica for x in problem.demands):
        return (), ()
    # the serving model takes a tenth of a second to import
    from dcplan.planning.audit.work.latency import latency_checks, service_latencies

    found = tuple(service_latencies(problem, decisions, question))
    return found, tuple(latency_checks(found, question))


def _queues(
    problem: PlanningProblem, decisions: Decisions, question: Question
) -> tuple[tuple[QueueState, ...], tuple[Check, ...]]:
    """Return the queues of the pools, and the checks of their waits."""
    if not question.scenario.workloads.queue:
        return (), ()
    # the simulation of queues takes long to import
    from dcplan.planning.audit.work.queue import queue_checks, queue_states

    found = queue_states(problem, decisions, question)
    return found, tuple(queue_checks(found))


def _merged(problem: PlanningProblem, checks: list[Check]) -> tuple[str, ...]:
    """Return one sentence per limit: its worst quarter, and the number of quarters above it."""
    groups: dict[tuple[str, str], list[Check]] = {}
    for check in checks:
        groups.setdefault((check.name, check.where), []).append(check)
    sentences = []
    for found in groups.values():
        worst = max(found, key=lambda c: c.used - c.limit)
        more = f" (in {len(found)} quarters)" if len(found) > 1 else ""
        sentences.append(_sentence(problem, worst) + more)
    return tuple(sentences)


def _sentence(problem: PlanningProblem, check: Check) -> str:
    quarter = quarter_name(quarter_index(problem.start) + check.quarter)
    return f"{check.name}, {check.where}, {quarter}: {check.used:.6g} > {check.limit:.6g}"

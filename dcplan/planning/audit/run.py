"""Audit a plan: facts against the catalog, exact accounts, every check, and the audited cost."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.economics.cash_flow import npv_usd
from dcplan.planning.audit.accounts import Accounts, make_accounts
from dcplan.planning.audit.check import Check
from dcplan.planning.audit.checks import all_checks
from dcplan.planning.audit.facts import differences
from dcplan.planning.audit.onsite import redispatched
from dcplan.planning.decisions import Decisions
from dcplan.planning.limits import BOUGHT
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.scenario.load import Question
from dcplan.units import quarter_index, quarter_name


@dataclass(frozen=True)
class Audit:
    """What the audit found."""

    books: Accounts
    checks: tuple[Check, ...]
    npv_usd: float
    problems: tuple[str, ...]
    given: tuple[str, ...]

    @property
    def broken(self) -> list[Check]:
        """Checks that do not hold, given decisions left out."""
        return [c for c in self.checks if not c.holds and not c.given]

    @property
    def only_parts(self) -> bool:
        """Whether nothing but limits of parts is exceeded."""
        bought = set(BOUGHT.values())
        return (
            bool(self.problems)
            and len(self.problems) == len(self.broken)
            and all(c.id in bought for c in self.broken)
        )

    @property
    def passed(self) -> bool:
        """Whether the plan may be printed."""
        return not self.problems


def settled(problem: PlanningProblem, decisions: Decisions) -> Decisions:
    """Decisions with what follows from whole switches.

    The energy that plants on the site must make.
    """
    if not any(s.onsite for s in problem.sites):
        return decisions
    try:
        books = make_accounts(problem, decisions)
    except ValueError:  # no such network: the audit says so
        return decisions
    return redispatched(
        problem, decisions, lambda site, t: books.site(problem, site, t, "facility_mwh")
    )


def audit(problem: PlanningProblem, decisions: Decisions, question: Question) -> Audit:
    """Recompute a plan and list what does not hold; never raises for a bad plan."""
    try:
        books = make_accounts(problem, decisions)
    except ValueError as error:
        return Audit(Accounts(), (), 0.0, (f"network: {error}",), ())
    checks = tuple(all_checks(problem, decisions, books))
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
    )


def _merged(problem: PlanningProblem, checks: list[Check]) -> tuple[str, ...]:
    """One sentence a limit: its worst quarter, and in how many quarters it is exceeded."""
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

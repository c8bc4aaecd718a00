"""Several searches of one problem at the same time, with other seeds of HiGHS.

Where a branch and bound goes depends on its seed, so searches of one problem find other plans and
other bounds in the same time. A plan of one search is a plan for all, and a bound of one holds for
all: the answer is the best plan with the highest bound. The search that proves the requested gap, or
that there is no plan, ends the others.
"""

from __future__ import annotations

import math
import pickle
import zlib
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from dcplan.errors import InputError, Place, Problem
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.highs import WRONG_EPS
from dcplan.planning.solve.kept import PROGRAMS
from dcplan.planning.solve.request import SolveRequest, SolveSession
from dcplan.planning.solve.solved import Solved, SolveReport
from dcplan.planning.solve.status import Phase, SolveEvent, SolveStatus
from dcplan.planning.solve.strategy import judged, solve_problem
from dcplan.scenario.load import Question

if TYPE_CHECKING:
    from dcplan.engine.engines import Done

FAST = 1
"""Level of compression: 24 MB of a large problem become 2 MB in 0.05 s (docs/decisions.md)."""
LATE, START_S = 2.0, 30.0
"""Factor on the time limit, and time for workers to start [s], after which no search is
awaited. A search may exceed its limit by a part of it, until its plan passes the audit."""
SHOWN_S = 0.5
"""Time between two reports of progress. [s]"""


class NoSearchError(Exception):
    """Every search ended with an error, which is a bug."""


@dataclass(frozen=True)
class Search:
    """One search: the packed problem, question and request of all, and its own seed."""

    inputs: bytes
    seed: int


def solve_together(problem: PlanningProblem, question: Question, request: SolveRequest) -> Solved:
    """Solve a problem by the searches that the request asks for.

    Without a team it is :func:`~dcplan.planning.solve.strategy.solve_problem`.

    Parameters
    ----------
    problem : PlanningProblem
        Problem of all searches.
    question : Question
        Question of the problem, for the audit.
    request : SolveRequest
        ``progress`` and ``stop`` are called in this process. The time limit holds for each search
        from its own start.

    Raises
    ------
    InputError
        If no scheduler answers, or every search lost its worker.
    NoSearchError
        If every search ended with an error.
    """
    if request.team is None:
        return solve_problem(problem, question, request)
    from dcplan.engine.engines import Chain  # multiprocessing takes long to import

    session = SolveSession.of(question, request, problem.goal.measure)
    run = _Run(session, request.team.searches)
    sent = replace(request, team=None, progress=None, stop=None)
    inputs = packed((problem, question, sent))
    chains = [Chain((Search(inputs, seed),)) for seed in range(run.searches)]
    with closing(request.team.engine.run(chains, search, run.ending)) as ended:
        for done in ended:
            run.take(done)
            if run.proved:
                break
    return run.answer(problem)


def search(task: Search, _: object) -> bytes:
    """Run one search in a worker and return its packed answer.

    Even seeds begin very large programs of halls with few systems, odd seeds with all.
    """
    problem, question, request = unpacked(task.inputs)
    own = replace(request, seed=task.seed, restrict=task.seed % 2 == 0)
    return packed(replace(solve_problem(problem, question, own), seed=task.seed))


def combined(found: Sequence[Solved]) -> Solved:
    """Return the best plan of searches of one problem, with the highest bound that no plan contradicts.

    A bound above the best plan, or a proof that there is no plan, is wrong where a plan passed its
    audit; it is left out, as for two solves of one program (``highs.py``).

    Parameters
    ----------
    found : sequence of Solved
        At least one answer; all of the same problem.
    """
    nodes, timed = sum(x.nodes for x in found), any(x.timed for x in found)
    best = min(found, key=lambda x: x.value)
    if math.isfinite(best.value):
        highest = best.value + WRONG_EPS * max(abs(best.value), 1.0)
        bound = max((x.bound for x in found if x.bound <= highest), default=-math.inf)
        best = replace(best, bound=min(bound, best.value), timed=timed)
    else:
        best = next((x for x in found if x.status is SolveStatus.INFEASIBLE), _open(found))
    return replace(best, nodes=nodes, searches_ended=len(found))


def _open(found: Sequence[Solved]) -> Solved:
    """Return what is known where no search has a plan or a proof: the highest bound."""
    highest = max(found, key=lambda x: x.bound)
    late = any(x.status is SolveStatus.LIMIT for x in found)
    return replace(highest, status=SolveStatus.LIMIT) if late else highest


@dataclass
class _Run:
    """Searches in progress: the answers so far, and when to end."""

    session: SolveSession
    searches: int
    found: list[Solved] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    crashed: int = 0
    """Searches whose worker died."""
    shown_s: float = -math.inf

    def take(self, done: Done) -> None:
        """Add the answer of a search, or its error."""
        from dcplan.engine.engines import CRASHED, DONE

        if done.status == DONE:
            self.found.append(unpacked(done.value))
            self.found.sort(key=lambda x: x.seed)  # the answer does not depend on who ended first
            return
        self.crashed += done.status == CRASHED
        self.lost.append(f"search {done.task.seed}: {done.message}")

    @property
    def proved(self) -> bool:
        """Return whether the answers so far need no further search."""
        if not self.found:
            return False
        best = combined(self.found)
        none = best.status is SolveStatus.INFEASIBLE
        return none or best.gap_frac <= self.session.gap

    def ending(self) -> bool:
        """Return whether to end now, and report the progress."""
        clock = self.session.clock
        spent = clock.spent()
        if spent - self.shown_s >= SHOWN_S:
            self.shown_s = spent
            self.session.reporter.tell(self._event())
        return self.session.stopped or spent > LATE * clock.limit_s + START_S

    def _event(self) -> SolveEvent:
        """Return what the searches that ended have found."""
        event = replace(self.session.reporter.event, phase=Phase.SEARCHES)
        if not self.found:
            return event
        best, plans = combined(self.found), sum(x.audit is not None for x in self.found)
        return replace(event, best=best.value, bound=best.bound, nodes=best.nodes, plans=plans)

    def answer(self, problem: PlanningProblem) -> Solved:
        """Return the answer of all searches that ended."""
        count = self.searches
        late = SolveStatus.INTERRUPTED if self.session.stopped else SolveStatus.LIMIT
        if len(self.lost) == count:
            raise self._none()
        if not self.found:
            plain = replace(problem, margin_factor=0.0)
            matrix = PROGRAMS.compiled(plain)
            report = SolveReport(-math.inf, 0.0, 0, matrix, plain, None, math.inf)
            best = replace(report.of(late), searches_ended=0, timed=True)
        else:
            best = combined(self.found)
        best = replace(best, searches=count, lost=tuple(self.lost))
        ended_early = len(self.found) + len(self.lost) < count
        if ended_early and best.status is not SolveStatus.INFEASIBLE:
            # which searches ended depends on their time
            best = replace(best, timed=True)
            if not self.proved:
                best = replace(best, status=late, ended="")
        return judged(best, self.session)

    def _none(self) -> Exception:
        """Return the error of a run without an answer."""
        text = "no search ended: " + "; ".join(self.lost)
        if self.crashed < len(self.lost):
            return NoSearchError(text)
        help_text = "give fewer --searches, or more memory"
        return InputError([Problem("DC050", text, Place("--searches"), help=help_text)])


def packed(value: object) -> bytes:
    """Return an object in few bytes, to send it to another process or machine."""
    return zlib.compress(pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL), FAST)


def unpacked(data: bytes) -> Any:
    """Return an object from its bytes."""
    return pickle.loads(zlib.decompress(data))  # noqa: S301 - from our own process or worker

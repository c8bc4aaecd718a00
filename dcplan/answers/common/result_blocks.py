"""Common blocks of every answer's JSON: the scenario, the inputs used, the solver."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Protocol

from dcplan.inputs.log import InputLog
from dcplan.scenario.load import Question

if TYPE_CHECKING:
    from dcplan.planning.solve.solved import Solved


class Recorded(Protocol):
    """An object built from logged inputs."""

    @property
    def log(self) -> InputLog:
        """The input log."""


def describe(question: Question) -> dict[str, Any]:
    """Return the scenario block of a result: name, file, variant and digests."""
    return {
        "name": question.scenario.name,
        "path": str(question.file),
        "variant": question.variant,
        "sets": list(question.sets),
        "start": question.scenario.horizon.start,
        "inputs_sha256": question.digest,
        "catalogs_sha256": question.catalog.digest,
    }


def inputs_of(made: Recorded) -> list[dict[str, Any]]:
    """Return every input used, sorted by key."""
    return [asdict(row) for _, row in sorted(made.log.rows.items())]


def solver_block(solved: Solved) -> dict[str, Any]:
    """Return the solver block of a result: version, status, bound, gaps, size of the model.

    ``searches`` ran at the same time, ``searches_ended`` of them with an answer; ``seed`` is that of
    the search with the plan.
    """
    from dcplan.planning.solve import highs

    return {
        "name": "highs",
        "version": highs.version(),
        "status": solved.status,
        "gap_frac": solved.gap_frac,
        "search_gap_frac": solved.solver_gap_frac,
        "goal": solved.problem.goal.measure,
        "bound": solved.bound,
        "bound_usd": solved.bound_usd,
        "columns": len(solved.matrix.columns),
        "rows": len(solved.matrix.rows),
        "integers": int(solved.matrix.integer.sum()),
        "nodes": solved.nodes,
        "threads": 1,
        "searches": solved.searches,
        "searches_ended": solved.searches_ended,
        "seed": solved.seed,
        "ended": solved.ended,
        "reproducible": solved.reproducible,
    }

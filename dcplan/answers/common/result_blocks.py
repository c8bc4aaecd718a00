"""Blocks that every answer's JSON shares: the scenario, the inputs used, the solver."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from dcplan.scenario.load import Question

if TYPE_CHECKING:
    from dcplan.planning.problem.build import Built
    from dcplan.planning.solve.solved import Solved


def describe(question: Question) -> dict[str, Any]:
    """The scenario block of a result: name, file, variant and digests."""
    return {
        "name": question.scenario.name,
        "path": str(question.file),
        "variant": question.variant,
        "start": question.scenario.horizon.start,
        "inputs_sha256": question.digest,
        "catalogs_sha256": question.catalog.digest,
    }


def inputs_of(built: Built) -> list[dict[str, Any]]:
    """Every input used, sorted by key."""
    return [asdict(row) for _, row in sorted(built.ledger.rows.items())]


def solver_block(solved: Solved) -> dict[str, Any]:
    """The solver block of a result: version, status, bound, gaps and size of the model."""
    from dcplan.planning.solve import highs

    return {
        "name": "highs",
        "version": highs.version(),
        "status": solved.status,
        "gap_frac": solved.gap_frac,
        "search_gap_frac": solved.solver_gap_frac,
        "goal": solved.menu.goal.measure,
        "bound": solved.bound,
        "bound_usd": solved.bound_usd,
        "columns": len(solved.matrix.columns),
        "rows": len(solved.matrix.rows),
        "integers": int(solved.matrix.integer.sum()),
        "nodes": solved.nodes,
        "threads": 1,
        "ended": solved.ended,
        "reproducible": solved.reproducible,
    }

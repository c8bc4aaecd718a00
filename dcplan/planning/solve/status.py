"""How a solve ended."""

from __future__ import annotations

from enum import StrEnum


class SolveStatus(StrEnum):
    """How a solve ended."""

    OPTIMAL = "optimal"
    """The asked gap is proved."""
    INFEASIBLE = "infeasible"
    """No solution exists."""
    LIMIT = "limit"
    """Time or nodes ran out."""
    INTERRUPTED = "interrupted"
    """Somebody asked it to end."""
    ROUNDING = "rounding"
    """No plan was found within the rounding margins, though the relaxation has one: nothing is
    proved."""

"""Status at the end of a solve."""

from __future__ import annotations

from enum import StrEnum


class SolveStatus(StrEnum):
    """Status at the end of a solve."""

    OPTIMAL = "optimal"
    """The requested gap is proved."""
    INFEASIBLE = "infeasible"
    """No solution exists."""
    LIMIT = "limit"
    """The time limit or the node limit was reached."""
    INTERRUPTED = "interrupted"
    """A request to stop was made."""
    ROUNDING = "rounding"
    """No plan was found within the rounding margins, but the relaxation has a solution; nothing is
    proved."""

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
    """The time limit was reached, or the search ended with a gap above the requested one."""
    INTERRUPTED = "interrupted"
    """A request to stop was made."""
    ROUNDING = "rounding"
    """No tried plan fits integer counts into the limits, but the model has a solution; nothing is
    proved."""

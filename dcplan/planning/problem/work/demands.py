"""All demands of a scenario, with the periods of the week in which they differ."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.planning.problem.work.terms import DemandTerms, NearestLatency, PoolPair


@dataclass(frozen=True)
class Demands:
    """Demands with the periods of the week; by default none, and one period."""

    terms: tuple[DemandTerms, ...] = ()
    periods: tuple[float, ...] = (1.0,)
    """Shares of the hours of the week."""
    period_of_hour: tuple[int, ...] = ()
    """Period of each hour of the week; empty with one period."""
    pairs: tuple[PoolPair, ...] = ()
    notes: tuple[str, ...] = ()
    nearest: tuple[NearestLatency, ...] = ()
    """Nearest hardware of services whose limits no hardware meets."""

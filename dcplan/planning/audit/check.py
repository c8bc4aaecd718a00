"""One limit of a plan, kept or broken."""

from __future__ import annotations

from dataclasses import dataclass

RELATIVE = 1e-6


@dataclass(frozen=True)
class Check:
    """One limit: what is used must not exceed it."""

    name: str
    where: str
    quarter: int
    used: float
    limit: float
    given: bool = False
    """A fixed decision of the scenario breaks it: reported, not an error of the optimizer."""

    @property
    def holds(self) -> bool:
        """Used within the limit, up to the solver's tolerance."""
        return self.used <= self.limit + RELATIVE * max(1.0, abs(self.limit))

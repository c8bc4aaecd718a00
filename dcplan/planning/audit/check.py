"""One limit of a plan, kept or broken."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.planning.limits import CheckId

RELATIVE = 1e-6


@dataclass(frozen=True)
class Check:
    """One limit: what is used must not exceed it."""

    id: CheckId
    where: str
    quarter: int
    used: float
    limit: float
    given: bool = False
    """A fixed decision of the scenario breaks it: reported, not an error of the optimizer."""
    subject: str = ""
    """What the check is about, where its words need it."""

    @property
    def name(self) -> str:
        """The words of the check."""
        return self.id.value.format(subject=self.subject)

    @property
    def holds(self) -> bool:
        """Whether the use is within the limit, up to the solver's tolerance."""
        return self.used <= self.limit + RELATIVE * max(1.0, abs(self.limit))

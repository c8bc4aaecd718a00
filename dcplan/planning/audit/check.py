"""One check of a plan against a limit."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.planning.check_ids import CheckId

RELATIVE = 1e-6


@dataclass(frozen=True)
class Check:
    """One check: the use must not exceed the limit."""

    id: CheckId
    where: str
    quarter: int
    used: float
    limit: float
    given: bool = False
    """Whether a fixed decision of the scenario violates it: reported, not an error of the
    solver."""
    subject: str = ""
    """Subject of the check, if its text needs one."""

    @property
    def name(self) -> str:
        """Return the text of the check."""
        return self.id.value.format(subject=self.subject)

    @property
    def holds(self) -> bool:
        """Return whether the use is within the limit and the solver's tolerance."""
        return self.used <= self.limit + RELATIVE * max(1.0, abs(self.limit))

"""What ``dcplan test`` is asked: which scenarios, against what, and when it fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.scenario.ref import Catalogs, ScenarioRef, Variant
from dcplan.specs.request import Flag


@dataclass(frozen=True)
class Wanted(ScenarioRef):
    """A plan that is asked for, and how far to solve it."""

    gap: float = 0.005
    time_limit_s: float = 120.0


@dataclass(frozen=True)
class GatesRequest:
    """Scenarios whose expectations are checked, with every variant or with one."""

    files: Annotated[
        tuple[str, ...], Flag("scenarios, or folders of them", metavar="FILE...", argument=True)
    ]
    base: Annotated[
        str | None,
        Flag("what changes are against: git:REV, a folder, a file, a result", metavar="REF"),
    ] = None
    variant: Variant = None
    catalogs: Catalogs = ()
    exit_zero: Annotated[bool, Flag("0 where an expectation failed; never for 2, 3, 4")] = False
    error_on_warning: Annotated[bool, Flag("warnings fail as errors do")] = False
    gap: Annotated[float, Flag("relative gap at which each solve may stop", low=0)] = 0.005
    time_limit_s: Annotated[
        float, Flag("time of each solve", unit="s", low=0.1, names=("--time-limit",))
    ] = 120.0
    no_cache: Annotated[bool, Flag("solve again what is known")] = False

    def wanted(self, file: object, variant: str | None) -> Wanted:
        """Return a plan of this request."""
        return Wanted(str(file), variant, (), self.catalogs, self.gap, self.time_limit_s)

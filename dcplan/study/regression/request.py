"""Request of ``dcplan test``: the scenarios, the base, and the conditions for failure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from dcplan.scenario.ref import Catalogs, ScenarioRef, Sets, Variant
from dcplan.specs.request import Flag


@dataclass(frozen=True)
class Wanted(ScenarioRef):
    """A requested plan with the limits of its solve."""

    gap: float = 0.005
    time_limit_s: float = 120.0


@dataclass(frozen=True)
class GatesRequest:
    """Scenarios whose expectations are checked, with every variant or with one variant."""

    files: Annotated[
        tuple[str, ...], Flag("scenarios or folders of scenarios", metavar="FILE...", argument=True)
    ]
    base: Annotated[
        str | None,
        Flag("reference for changes: git:REV, a folder, a file or a result", metavar="REF"),
    ] = None
    variant: Variant = None
    sets: Sets = ()
    catalogs: Catalogs = ()
    exit_zero: Annotated[
        bool, Flag("exit with 0 if an expectation fails; codes 2, 3 and 4 stay")
    ] = False
    error_on_warning: Annotated[bool, Flag("treat warnings as errors")] = False
    gap: Annotated[float, Flag("relative gap at which each solve may stop", low=0)] = 0.005
    time_limit_s: Annotated[
        float, Flag("time limit of each solve", unit="s", low=0.1, names=("--time-limit",))
    ] = 120.0
    no_cache: Annotated[bool, Flag("ignore stored plans and solve again")] = False

    def wanted(self, file: object, variant: str | None) -> Wanted:
        """Return a plan of this request, with its changes."""
        return replace(self.at_base(file, variant), sets=self.sets)

    def at_base(self, file: object, variant: str | None) -> Wanted:
        """Return a plan of the base, without the changes of this request."""
        return Wanted(str(file), variant, (), self.catalogs, self.gap, self.time_limit_s)

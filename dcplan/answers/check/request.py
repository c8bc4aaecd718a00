"""Request of ``dcplan check``: one or more scenarios."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.scenario.ref import Catalogs, ScenarioRef, Sets, Variant
from dcplan.specs.request import Flag


@dataclass(frozen=True)
class CheckRequest:
    """Scenarios and folders of scenarios to check."""

    files: Annotated[
        tuple[str, ...], Flag("scenarios or folders of scenarios", metavar="FILE...", argument=True)
    ]
    variant: Variant = None
    sets: Sets = ()
    catalogs: Catalogs = ()

    def one(self, file: str, variant: str | None) -> ScenarioRef:
        """Return one scenario of the request, with one of its variants."""
        return ScenarioRef(file, variant, self.sets, self.catalogs)

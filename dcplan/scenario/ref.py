"""Reference to a scenario: file, variant, changes and overlays, identical for every verb."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from dcplan.specs.request import Flag

if TYPE_CHECKING:
    from dcplan.scenario.load import Question


Variant = Annotated[str | None, Flag("named variant in the file's `scenarios:`")]
Sets = Annotated[
    tuple[str, ...],
    Flag("change of an input, applied last; repeatable", names=("--set",), metavar="K=V"),
]
Catalogs = Annotated[
    tuple[str, ...], Flag("catalog overlay folder; repeatable, the last one takes precedence")
]


@dataclass(frozen=True)
class ScenarioRef:
    """A reference to a scenario; requests of verbs that read a scenario extend it."""

    scenario: Annotated[
        str,
        Flag(
            "scenario file or name of a packaged example",
            metavar="FILE",
            complete="scenarios",
            argument=True,
        ),
    ]
    variant: Variant = None
    sets: Sets = ()
    catalogs: Catalogs = ()

    def question(self, *changes: str) -> Question:
        """Load the scenario, with further ``key=value`` changes after its own.

        Raises
        ------
        InputError
            When the scenario is wrong; carries every problem.
        """
        from dcplan.scenario.load import load  # pydantic is slow to import

        return load(
            self.scenario, variant=self.variant, sets=(*self.sets, *changes), catalogs=self.catalogs
        )

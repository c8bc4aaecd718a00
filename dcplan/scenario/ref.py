"""Which scenario is asked about: file, variant, changes and overlays, as every verb takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from dcplan.specs.request import Flag

if TYPE_CHECKING:
    from dcplan.scenario.load import Question


Variant = Annotated[str | None, Flag("a name in the file's `scenarios:`")]
Sets = Annotated[
    tuple[str, ...], Flag("key=value, applied last; repeatable", names=("--set",), metavar="K=V")
]
Catalogs = Annotated[tuple[str, ...], Flag("overlay folder; repeatable, the last wins")]


@dataclass(frozen=True)
class ScenarioRef:
    """A scenario as it is named; requests of verbs that read one extend it."""

    scenario: Annotated[
        str,
        Flag(
            "scenario file, or the name of a packaged example",
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
        from dcplan.scenario.load import load  # pydantic takes long to import

        return load(
            self.scenario, variant=self.variant, sets=(*self.sets, *changes), catalogs=self.catalogs
        )

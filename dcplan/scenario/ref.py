"""Reference to a scenario: file, variant, changes and overlays, identical for every verb."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from dcplan.errors import InputError, Place, Problem
from dcplan.specs.request import CHANGE, Flag

if TYPE_CHECKING:
    from dcplan.scenario.load import Question


def set_text(key: str, value: Any) -> str:
    """Return the text of one change, as ``--set`` takes it.

    Parameters
    ----------
    key : str
        Dotted key of an input.
    value : str, float, bool, list, dict or None
        A text is read as on the command line, so ``"shift(1)"`` moves a quarter; other values are
        written as JSON. Numbers and arrays of numpy are numbers and lists.

    Raises
    ------
    InputError
        DC050 when the value is not a number, a text, a list or a mapping.

    Examples
    --------
    >>> set_text("finance.discount_rate", 0.08), set_text("sites.a.power_mw", [10, 20])
    ('finance.discount_rate=0.08', 'sites.a.power_mw=[10, 20]')
    """
    if isinstance(value, str):
        return f"{key}={value}"
    try:
        return f"{key}={json.dumps(value, allow_nan=False, default=_plain)}"
    except (TypeError, ValueError) as error:
        cause = f"{key}: {value!r} is not a number, a text, a list or a mapping"
        raise InputError([Problem("DC050", cause, Place("sets"))]) from error


def _plain(value: Any) -> Any:
    """Return a number or an array of numpy as a number or a list, and a date as a text."""
    for name in ("tolist", "isoformat"):
        if hasattr(value, name):
            return getattr(value, name)()
    msg = f"{type(value).__name__} has no text"
    raise TypeError(msg)


Variant = Annotated[str | None, Flag("named variant in the file's `scenarios:`")]
Sets = Annotated[
    tuple[str, ...],
    Flag(
        "change of an input, applied last; repeatable",
        names=("--set",),
        metavar=CHANGE,
        pair=set_text,
    ),
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

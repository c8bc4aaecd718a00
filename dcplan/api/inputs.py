"""Inputs from Python: a loaded scenario and the rows of the catalogs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dcplan.answers.reference.catalog import catalog_list
from dcplan.result import Result
from dcplan.scenario.ref import ScenarioRef
from dcplan.specs.request import verb

if TYPE_CHECKING:
    from dcplan.scenario.load import Question


@verb(ScenarioRef, "load")
def load(ref: ScenarioRef) -> Question:
    """Load a scenario without solving it: ``.scenario`` has its typed fields.

    Raises
    ------
    InputError
        When the scenario is wrong; lists every problem with its place.
    """
    return ref.question()


def catalog(kind: str | None = None, catalogs: Sequence[str] = ()) -> Result:
    """Return the kinds of catalog rows, or the rows of one kind.

    Parameters
    ----------
    kind : str, optional
        Such as ``systems``: the table ``rows`` has its rows with their main figures. Without it,
        the table ``rows`` counts the rows of every kind.
    catalogs : sequence of str
        Overlay folders.

    Raises
    ------
    InputError
        When the kind does not exist, or an overlay is wrong.
    """
    return catalog_list(kind, catalogs)

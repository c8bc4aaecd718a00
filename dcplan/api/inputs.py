"""Inputs from Python: a loaded scenario and the rows of the catalogs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dcplan.answers.reference.catalog import catalog_list, catalog_show
from dcplan.result import Result
from dcplan.scenario.ref import ScenarioRef
from dcplan.specs.verb import verb

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


def catalog(
    kind: str | None = None, key: str | None = None, catalogs: Sequence[str] = ()
) -> Result:
    """Return the kinds of catalog rows, the rows of one kind, or every value of one row.

    Parameters
    ----------
    kind : str, optional
        Such as ``systems``: the table ``rows`` has its rows with their main figures. Without it,
        the table ``rows`` counts the rows of every kind.
    key : str, optional
        Id of a row: the table has each of its values with unit, bounds, status and source.
    catalogs : sequence of str
        Overlay folders.

    Raises
    ------
    InputError
        When the kind or the row does not exist, or an overlay is wrong.
    """
    if kind is not None and key is not None:
        return catalog_show(kind, key, catalogs)
    return catalog_list(kind, catalogs)

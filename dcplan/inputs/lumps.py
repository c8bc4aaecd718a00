"""Own values that a lump of the catalog already contains, so that they count twice or not at all."""

from __future__ import annotations

from collections.abc import Iterator

from dcplan.catalog.loader import load
from dcplan.catalog.schema import Parameter
from dcplan.inputs.log import InputLog
from dcplan.scenario.load import Question


def lump_notes(question: Question, log: InputLog) -> list[str]:
    """Name the own values of an answer that are inside a lump which the answer counts.

    An own value is a row of an overlay or of ``prices:``, a field of the scenario, or an own cost line
    of ``comparison:``. A row that the answer also takes by itself is not named: other sites may use it.
    """
    found = []
    for key in list(log.rows):
        kind, _, name = key.partition(".")
        known = kind in question.catalog.rows and name
        lump = question.catalog.find(kind, name, Parameter) if known else None
        if lump is None:
            continue
        for part in lump.contains:
            found += list(_twice(part, kind, lump, question, log))
    return found


def _twice(
    part: str, kind: str, lump: Parameter, question: Question, log: InputLog
) -> Iterator[str]:
    given = question.scenario.comparison
    where = f"{kind}/{lump.id}, which this answer counts"
    if part in log.rows:
        yield f"{part} is already inside {where}: it counts twice; lower the lump or remove the field"
    if given is not None and any(line.id == part for line in given.lines):
        yield (
            f"the own cost line {part} is already inside {where}: it counts twice; lower the lump, "
            "leave out its line, or remove your own"
        )
    if f"{kind}.{part}" not in log.rows and _own(part, kind, question):
        yield (
            f"your value of {part} is already inside {where}: it has no effect; change the lump, or "
            "give staff of the site, which replaces the lump by single lines"
        )


def _own(part: str, kind: str, question: Question) -> bool:
    """Return whether an overlay or the scenario gives a row."""
    row = question.catalog.find(kind, part, Parameter)
    return row is not None and row != load().find(kind, part, Parameter)

"""Wishes typed as ``key=value,key=value``: how a run recovers, what storage it has."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from dcplan.errors import InputError, Place, Problem, did_you_mean

M = TypeVar("M", bound=BaseModel)


def read_wishes(text: str, model: type[M], flag: str) -> M:
    """A part of the scenario format from one line.

    Raises
    ------
    InputError
        With every problem: an unknown key, a value that its field refuses.

    Examples
    --------
    >>> from dcplan.scenario.schema.work import Reliability
    >>> read_wishes("checkpoint=blocking,save-s=300", Reliability, "--reliability").save_s.value
    300.0
    """
    names = {field.replace("_", "-"): field for field in model.model_fields}
    values: dict[str, Any] = {}
    problems = []
    for pair in filter(None, (p.strip() for p in text.split(","))):
        key, _, value = (x.strip() for x in pair.partition("="))
        if key.replace("_", "-") not in names:
            hint = did_you_mean(key, names)
            problems.append(
                Problem("DC051", f"{pair!r}: expected {', '.join(names)}", Place(flag), hint)
            )
            continue
        field = names[key.replace("_", "-")]
        if not value:
            problems.append(Problem("DC051", f"{pair!r}: a value is missing", Place(flag)))
        elif field in values:
            problems.append(Problem("DC051", f"{pair!r}: {key} stands twice", Place(flag)))
        else:
            values[field] = _typed(value)
    try:
        found = model.model_validate(values)
    except ValidationError as error:
        for e in error.errors():
            key = str(e["loc"][0]).replace("_", "-") if e["loc"] else text
            problems.append(Problem("DC051", f"{key}={e['input']}: {e['msg']}", Place(flag)))
        raise InputError(problems) from error
    if problems:
        raise InputError(problems)
    return found


def _typed(value: str) -> float | int | bool | str:
    """The value as YAML would read it."""
    if value in {"true", "false"}:
        return value == "true"
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value

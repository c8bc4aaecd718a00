"""Settings written as ``key=value,key=value``: a run's phases, recovery and storage."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from dcplan.errors import InputError, Place, Problem, did_you_mean

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class Phase:
    """A phase of a run with its own sequence length and batch."""

    tokens: float
    seq_len: int
    global_batch_tokens: float


def read_pairs(
    text: str, known: Iterable[str], place: Place
) -> tuple[dict[str, str], list[Problem]]:
    """Read the pairs of a text, and the problems of invalid ones.

    Examples
    --------
    >>> read_pairs("tp=8, pp=4", ("tp", "pp"), Place("--layout"))
    ({'tp': '8', 'pp': '4'}, [])
    """
    keys = tuple(known)
    values: dict[str, str] = {}
    problems = []
    for pair in filter(None, (p.strip() for p in text.split(","))):
        key, equals, value = (x.strip() for x in pair.partition("="))
        key = key.replace("_", "-")
        if not equals or key not in keys:
            cause = f"{pair!r}: expected key=value with {', '.join(keys)}"
            problems.append(Problem("DC051", cause, place, did_you_mean(key, keys)))
        elif not value:
            problems.append(Problem("DC051", f"{pair!r}: the value is missing", place))
        elif key in values:
            problems.append(Problem("DC051", f"{pair!r}: {key} is given twice", place))
        else:
            values[key] = value
    return values, problems


def read_phase(text: str, batch_tokens: float) -> Phase:
    """Read one phase; ``batch_tokens`` is its default global batch.

    Raises
    ------
    InputError
        With every problem: an unknown or missing key, a value that is not a positive number, a
        batch below one sequence.

    Examples
    --------
    >>> read_phase("tokens=8e11,seq-len=131072,global-batch-tokens=16e6", 4e6).seq_len
    131072
    """
    place, keys = Place("--phase"), ("tokens", "seq-len", "global-batch-tokens")
    typed, problems = read_pairs(text, keys, place)
    values = {key: _number(value) for key, value in typed.items()}
    for key, number in values.items():
        if not 1 <= number < float("inf"):
            cause = f"'{key}={typed[key]}': expected a number of at least 1"
            problems.append(Problem("DC051", cause, place))
    values.setdefault("global-batch-tokens", max(batch_tokens, values.get("seq-len", 0.0)))
    missing = [key for key in keys if key not in values]
    if missing and not problems:
        problems.append(Problem("DC051", f"{text!r}: missing {', '.join(missing)}", place))
    if not problems and values["global-batch-tokens"] < values["seq-len"]:
        problems.append(
            Problem("DC051", f"{text!r}: the global batch is smaller than one sequence", place)
        )
    if problems:
        raise InputError(problems)
    return Phase(values["tokens"], int(values["seq-len"]), values["global-batch-tokens"])


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def read_settings(text: str | None, model: type[M], flag: str) -> M:
    """Read a part of the scenario format from one line; an empty text gives the defaults.

    Raises
    ------
    InputError
        With every problem: an unknown key, or an invalid value.

    Examples
    --------
    >>> from dcplan.scenario.schema.work import Reliability
    >>> read_settings("checkpoint=blocking,save-s=300", Reliability, "--reliability").save_s.value
    300.0
    """
    names = {field.replace("_", "-"): field for field in model.model_fields}
    typed, problems = read_pairs(text or "", names, Place(flag))
    try:
        found = model.model_validate({names[key]: _cell(value) for key, value in typed.items()})
    except ValidationError as error:
        for e in error.errors():
            key = str(e["loc"][0]).replace("_", "-") if e["loc"] else ""
            cause = f"{key}={e['input']}: {e['msg']}" if key else e["msg"]
            cause = f"{key} is missing" if e["type"] == "missing" else cause
            problems.append(Problem("DC051", cause, Place(flag)))
        raise InputError(problems) from error
    if problems:
        raise InputError(problems)
    return found


def _cell(value: str) -> Any:
    """Return a value as YAML would read it."""
    if value in {"true", "false"}:
        return value == "true"
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value

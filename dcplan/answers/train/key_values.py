"""Settings written as ``key=value,key=value``: a run's phases, recovery and storage."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ValidationError

from dcplan.catalog.schema.base import Strict
from dcplan.catalog.schema.ranges import (
    AcceleratorPrice,
    EnergyPrice,
    NetworkShare,
    NonNegative,
    Positive,
    Pue,
)
from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.inputs.incidents.overlay import read_reliability
from dcplan.reliability.setbacks import Setbacks
from dcplan.scenario.schema.reliability import Reliability

MOST_COUNT = 1e9
M = TypeVar("M", bound=BaseModel)


class CostSettings(Strict):
    """How the cost of a run is counted, instead of its own hours, prices and power."""

    accelerator_hours: Positive | None = None
    """Measured or published accelerator-hours of the run."""
    usd_per_accelerator: AcceleratorPrice | None = None
    """Price of one accelerator with its share of the host."""
    network_share_frac: NetworkShare | None = None
    """Share of the network in the price of the whole cluster."""
    value_oom_per_year: NonNegative | None = None
    """Orders of magnitude of value that hardware loses a year."""
    method: Literal["value-lost", "initial-rate"] = "value-lost"
    """Value lost during the run, or the rate of loss at its start for each hour (Epoch AI)."""
    average_kw: NonNegative | None = None
    """Average IT power of one accelerator with its share of the host."""
    pue: Pue | None = None
    """PUE of the run's energy."""
    usd_per_kwh: EnergyPrice | None = None
    """Price of the run's energy."""


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


def read_setbacks(text: str | None) -> Setbacks:
    """Read the setbacks of a run; an empty text gives none.

    Raises
    ------
    InputError
        With every problem: an unknown key, a value out of range, a count without its size.

    Examples
    --------
    >>> read_setbacks("rollbacks=20,rollback-steps=100").rollback_steps
    100.0
    """
    place, share, count = Place("--setbacks"), (0.0, 0.99), (0.0, MOST_COUNT)
    ranges = {
        "rollbacks": count,
        "rollback-steps": count,
        "manual-restarts": count,
        "manual-restart-h": count,
        "idle-frac": share,
        "other-work-frac": share,
    }
    values = in_ranges(text or "", ranges, place)
    pairs = (("rollbacks", "rollback-steps"), ("manual-restarts", "manual-restart-h"))
    alone = [pair for pair in pairs if len(values.keys() & set(pair)) == 1]
    if alone:
        causes = [f"{one} and {other} need each other" for one, other in alone]
        raise InputError([Problem("DC051", cause, place) for cause in causes])
    return Setbacks(**{key.replace("-", "_"): value for key, value in values.items()})


def in_ranges(
    text: str, ranges: Mapping[str, tuple[float, float]], place: Place
) -> dict[str, float]:
    """Read numbers and refuse those that are out of their range."""
    typed, problems = read_pairs(text, ranges, place)
    found = {}
    for key, value in typed.items():
        low, high = ranges[key]
        number = number_of(value, math.nan)
        if low <= number <= high:
            found[key] = number
            continue
        cause = f"'{key}={value}': expected a number between {low:g} and {high:g}"
        problems.append(Problem("DC051", cause, place))
    if problems:
        raise InputError(problems)
    return found


def number_of(text: str, wrong: float = 0.0) -> float:
    """Return the number of a text, or another value for a text that is no number."""
    try:
        return float(text)
    except ValueError:
        return wrong


def read_recovery(text: str | None, flag: str) -> Reliability:
    """Read failures and recovery: ``key=value`` pairs, a YAML file that has them, or both.

    The file comes first; a pair takes precedence over the same field of the file.

    Raises
    ------
    InputError
        With every problem: a file that cannot be read, an unknown key, an invalid value.

    Examples
    --------
    >>> read_recovery("spares=4", "--reliability").spares
    4
    """
    file, comma, pairs = (text or "").partition(",")
    if not file.strip().endswith((".yaml", ".yml")) or "=" in file:
        return read_settings(text, Reliability, flag)
    block = read_reliability(Path(file.strip()))
    return read_settings(pairs if comma else None, Reliability, flag, block)


def read_settings(
    text: str | None, model: type[M], flag: str, given: Mapping[str, Any] | None = None
) -> M:
    """Read a part of the scenario format from one line; an empty text gives the defaults.

    Parameters
    ----------
    text : str or None
    model : type
    flag : str
        Name of the flag in messages.
    given : mapping or None
        Fields that are known already; the text takes precedence.

    Raises
    ------
    InputError
        With every problem: an unknown key, or an invalid value.

    Examples
    --------
    >>> read_settings("checkpoint=blocking,save-s=300", Reliability, "--reliability").save_s.value
    300.0
    """
    names = {field.replace("_", "-"): field for field in model.model_fields}
    typed, problems = read_pairs(text or "", names, Place(flag))
    try:
        cells = {names[key]: _cell(value) for key, value in typed.items()}
        found = model.model_validate({**(given or {}), **cells})
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
    return number_or_text(value)


def number_or_text(text: str) -> int | float | str:
    """Return the number that a text is, otherwise the text.

    Examples
    --------
    >>> number_or_text("8"), number_or_text("0.5"), number_or_text("fp8")
    (8, 0.5, 'fp8')
    """
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text

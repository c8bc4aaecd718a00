"""Settings written as ``key=value,key=value``: a run's phases, recovery and storage."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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
from dcplan.reliability.setbacks import Setbacks, ramp_phases
from dcplan.scenario.schema.reliability import Reliability

SEARCH_RAMP_PHASES = 8
"""Phases that a rising batch is computed in."""
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


def read_ramp(text: str | None, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
    """Return the phases of a run whose batch rises at the start of its first phase.

    Raises
    ------
    InputError
        With every problem: an unknown or missing key, a value out of range, a ramp that does not
        reach the batch or has more tokens than the first phase.

    Examples
    --------
    >>> run = (Phase(1e9, 1024, 4096.0),)
    >>> [p.global_batch_tokens for p in read_ramp("start=2048,increment=1024,tokens=8e8", run)]
    [2048.0, 3072.0, 4096.0]
    """
    if text is None:
        return phases
    place, first = Place("--batch-ramp"), phases[0]
    ranges = {
        "start": (float(first.seq_len), first.global_batch_tokens),
        "increment": (1.0, first.global_batch_tokens),
        "tokens": (1.0, first.tokens),
    }
    values = _in_ranges(text, ranges, place)
    missing = ", ".join(key for key in ranges if key not in values)
    if missing:
        raise InputError([Problem("DC051", f"{text!r}: missing {missing}", place)])
    end, tokens = first.global_batch_tokens, values["tokens"]
    try:
        rises = ramp_phases(values["start"], values["increment"], end, tokens, SEARCH_RAMP_PHASES)
    except ValueError as error:
        help_text = f"--global-batch-tokens is {end:,.0f}: give an increment that reaches it"
        raise InputError([Problem("DC051", str(error), place, help=help_text)]) from error
    rest = Phase(first.tokens - tokens, first.seq_len, end)
    rising = tuple(Phase(amount, first.seq_len, batch) for amount, batch in rises)
    return (*rising, *((rest,) if rest.tokens >= end else ()), *phases[1:])


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
    values = _in_ranges(text or "", ranges, place)
    pairs = (("rollbacks", "rollback-steps"), ("manual-restarts", "manual-restart-h"))
    alone = [pair for pair in pairs if len(values.keys() & set(pair)) == 1]
    if alone:
        causes = [f"{one} and {other} need each other" for one, other in alone]
        raise InputError([Problem("DC051", cause, place) for cause in causes])
    return Setbacks(**{key.replace("-", "_"): value for key, value in values.items()})


def _in_ranges(
    text: str, ranges: Mapping[str, tuple[float, float]], place: Place
) -> dict[str, float]:
    """Read numbers and refuse those that are out of their range."""
    typed, problems = read_pairs(text, ranges, place)
    found = {}
    for key, value in typed.items():
        low, high = ranges[key]
        number = _number(value, math.nan)
        if low <= number <= high:
            found[key] = number
            continue
        cause = f"'{key}={value}': expected a number between {low:g} and {high:g}"
        problems.append(Problem("DC051", cause, place))
    if problems:
        raise InputError(problems)
    return found


def _number(text: str, wrong: float = 0.0) -> float:
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

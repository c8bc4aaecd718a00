"""Phases and batch ramps of ``dcplan train`` from the texts of its flags."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.answers.train.key_values import in_ranges, number_of, read_pairs
from dcplan.errors import InputError, Place, Problem
from dcplan.reliability.setbacks import ramp_phases

SEARCH_RAMP_PHASES = 8
"""Phases that a rising batch is computed in."""


@dataclass(frozen=True)
class Phase:
    """A phase of a run with its own sequence length and batch."""

    tokens: float
    seq_len: int
    global_batch_tokens: float


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
    values = {key: number_of(value) for key, value in typed.items()}
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
    values = in_ranges(text, ranges, place)
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

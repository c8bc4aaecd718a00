"""A phase as typed: ``tokens=1e12,seq-len=131072,global-batch-tokens=16e6``."""

from __future__ import annotations

from dcplan.answers.train.resolve import DEFAULT_BATCH_TOKENS, Phase
from dcplan.errors import InputError, Place, Problem, did_you_mean

KEYS = ("tokens", "seq-len", "global-batch-tokens")
WHERE = Place("--phase")


def read_phase(text: str, batch: float = DEFAULT_BATCH_TOKENS) -> Phase:
    """One phase; ``batch`` is the global batch in tokens where it names none.

    Raises
    ------
    InputError
        With every problem: an unknown or missing key, a value that is no positive number, a batch
        below a sequence.

    Examples
    --------
    >>> read_phase("tokens=8e11,seq-len=131072,global-batch-tokens=16e6").seq_len
    131072
    """
    values: dict[str, float] = {}
    problems = []
    for pair in filter(None, (p.strip() for p in text.split(","))):
        key, _, value = (x.strip() for x in pair.partition("="))
        if key not in KEYS:
            hint = did_you_mean(key, KEYS)
            problems.append(Problem("DC051", f"{pair!r}: expected {', '.join(KEYS)}", WHERE, hint))
            continue
        try:
            values[key] = float(value)
        except ValueError:
            values[key] = 0.0
        if not 1 <= values[key] < float("inf"):
            problems.append(Problem("DC051", f"{pair!r}: a number, at least 1", WHERE))
    values.setdefault("global-batch-tokens", max(batch, values.get("seq-len", 0.0)))
    missing = [k for k in KEYS if k not in values]
    if missing and not problems:
        problems.append(Problem("DC051", f"{text!r}: {', '.join(missing)} missing", WHERE))
    if not problems and values["global-batch-tokens"] < values["seq-len"]:
        problems.append(Problem("DC051", f"{text!r}: the batch is below one sequence", WHERE))
    if problems:
        raise InputError(problems)
    return Phase(values["tokens"], int(values["seq-len"]), values["global-batch-tokens"])

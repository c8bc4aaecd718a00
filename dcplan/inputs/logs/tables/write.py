"""The neutral CSV of a log, which is read back equal."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path

from dcplan.demand.log.jobs import Array, Index, JobLog, State
from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.logs.cells import NOTHING

NEUTRAL = (
    *("pool", "submit_s", "eligible_s", "start_s", "end_s", "busy_s", "accelerators"),
    *("requested", "per_node", "limit_s", "priority", "preemptible", "user", "reason"),
    *("state", "job"),
)
"""Columns of the neutral CSV."""


def _texts(value: Array) -> list[str]:
    """Return numbers that read back equal; empty for an unknown one."""
    return ["" if math.isnan(x) else repr(x) for x in value.tolist()]


def _named(names: Sequence[str], numbers: Index) -> list[str]:
    return [names[i] if i >= 0 else "" for i in numbers.tolist()]


def write_jobs(log: JobLog, file: Path) -> None:
    """Write the neutral CSV, which :func:`dcplan.inputs.logs.read.read_jobs` reads back equal.

    Raises
    ------
    InputError
        When the file cannot be written, or a name is one of the texts that mean unknown.
    """
    for name in (*log.pools, *log.users, *log.reasons):
        if name.strip().lower() in NOTHING or name != name.strip():
            cause = f"{name!r} cannot be a name: it would be read as unknown, or without its spaces"
            raise InputError([Problem("DC057", cause, Place(str(file)))])
    texts = {
        "pool": _named(log.pools, log.pool),
        "user": _named(log.users, log.user),
        "reason": _named(log.reasons, log.reason),
        "state": [State(x).name for x in log.state.tolist()],
        "preemptible": [str(int(x)) for x in log.preemptible.tolist()],
        "job": list(map(str, log.job.tolist())),
    }
    columns = [texts[n] if n in texts else _texts(getattr(log, n)) for n in NEUTRAL]
    try:
        with file.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(NEUTRAL)
            writer.writerows(zip(*columns, strict=True))
    except OSError as error:
        cause = f"cannot write the file: {error.strerror}"
        raise InputError([Problem("DC006", cause, Place(str(file)))]) from error

"""What a demand cannot be computed from: flags and logs that contradict themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from dcplan.answers.demand.jobs.tables import date_text
from dcplan.answers.demand.request import DemandRequest
from dcplan.demand.log.jobs import JobLog
from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.logs.gres import Shares
from dcplan.inputs.logs.options import LogFile, LogOptions
from dcplan.inputs.logs.read import ReadJobs
from dcplan.units import SECONDS_PER_DAY, SECONDS_PER_WEEK, quarter_index

LONE_FRAC = 0.01
"""Share of the runs on one side of a gap that count as alone."""
LONE_SPAN_FRAC = 0.5
"""Share of the span of a log that such a gap has."""
MOST_OF_A_JOB = 1_000_000
"""Accelerators above which a request is a slip: the largest announced clusters have fewer."""


def all_or_none(
    files: Sequence[Path], is_kind: Callable[[Path], bool], cause: str, step: str = ""
) -> bool:
    """Return whether all files are of a kind; ``step`` may name the first one as ``{file}``.

    Raises
    ------
    InputError
        When only some of them are (DC050).
    """
    found = [is_kind(file) for file in files]
    if any(found) and not all(found):
        file = files[found.index(True)]
        help_text = step.format(file=file)
        raise InputError([Problem("DC050", cause, Place(str(file)), help=help_text)])
    return any(found)


def refuse_flags(request: DemandRequest) -> None:
    """Refuse a first quarter that is none.

    Raises
    ------
    InputError
        With every such flag (DC050).
    """
    problems = []
    if request.start is not None:
        try:
            quarter_index(request.start)
        except ValueError as error:
            problems.append(Problem("DC050", str(error), Place("--start")))
    if problems:
        raise InputError(problems)


def refuse_log(read: ReadJobs) -> None:
    """Refuse a file that is given twice, runs far from all others, and jobs beyond every cluster.

    Raises
    ------
    InputError
        With each of them (DC057).
    """
    problems = [*_twice(read.files), *_alone(read), *_beyond(read)]
    if problems:
        raise InputError(problems)


def refuse_shares(options: LogOptions) -> None:
    """Refuse shares of partitions that no log has: their values would change nothing.

    Raises
    ------
    InputError
        With each of them (DC050).
    """
    given = options.mig_fractions
    unmet = given.unmet if isinstance(given, Shares) else ()
    step = "names are those of ReqTRES, AllocTRES or the resource, such as 1g.10gb or shard"
    problems = [
        Problem("DC050", f"the logs have no partition {name!r}", Place("--mig"), help=step)
        for name in unmet
    ]
    if problems:
        raise InputError(problems)


def _twice(files: Sequence[LogFile]) -> Iterator[Problem]:
    first: dict[str, str] = {}
    for f in files:
        if f.sha256 in first:
            cause = f"the same content as {first[f.sha256]}: its runs would count twice"
            yield Problem("DC057", cause, Place(f.path), help="give each log once")
        first.setdefault(f.sha256, f.path)


def _alone(read: ReadJobs) -> Iterator[Problem]:
    """Yield a gap that parts a few runs from all others: one wrong date moves every mean."""
    at_s = read.log.submit_s
    gaps = np.diff(at_s)
    if not len(gaps):
        return
    k = int(np.argmax(gaps))
    few = min(k + 1, len(at_s) - k - 1)
    if (
        gaps[k] < SECONDS_PER_WEEK
        or gaps[k] < LONE_SPAN_FRAC * (at_s[-1] - at_s[0])
        or few > max(LONE_FRAC * len(at_s), 1)
    ):
        return
    lone = at_s[k] if k + 1 == few else at_s[k + 1]
    cause = (
        f"{few} of {len(at_s):,} runs are {gaps[k] / SECONDS_PER_DAY:,.0f} days away from all others "
        f"(submitted {date_text(float(lone))}): a wrong date would move every figure"
    )
    yield Problem("DC057", cause, _place(read), help="correct or remove these rows")


def _beyond(read: ReadJobs) -> Iterator[Problem]:
    most = _largest(read.log)
    if most > MOST_OF_A_JOB:
        cause = f"a job of {most:,.0f} accelerators: more than {MOST_OF_A_JOB:,}, so a slip"
        yield Problem("DC057", cause, _place(read), help="correct or remove this row")


def _largest(log: JobLog) -> float:
    return float(np.max(log.accelerators, initial=0.0))


def _place(read: ReadJobs) -> Place:
    return Place(read.files[0].path if read.files else "FILE")

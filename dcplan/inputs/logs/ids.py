"""Job ids of Slurm: array tasks, components of heterogeneous jobs, and steps."""

from __future__ import annotations

import re
from dataclasses import dataclass

JOB_ID = re.compile(
    r"(\d{1,15})(?:_(?:(\d{1,15})|\[([^\]]*)(\])?))?(?:\+(\d{1,9}))?(\..+)?", re.ASCII
)
PLAIN_ID = re.compile(r"\d{1,15}", re.ASCII)
RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?", re.ASCII)
MOST_TASKS = 4_000_001
"""Largest ``MaxArraySize`` of Slurm."""


@dataclass(frozen=True)
class JobId:
    """Parts of an id such as ``123_4``, ``123_[4-9%2]``, ``123+1`` or ``123.batch``."""

    leader: int
    """Number of the job, of the array, or of the first component."""
    tasks: int = 1
    """Tasks in the row."""
    cut: bool = False
    """Whether the list of tasks is cut off."""
    component: int | None = None
    """Place in a heterogeneous job."""
    step: bool = False
    array: bool = False
    """Whether the row is a pending array."""


def job_id(text: str) -> JobId:
    """Return the parts of a job id.

    Raises
    ------
    ValueError
        When the text is no id of Slurm.

    Examples
    --------
    >>> job_id("123_[4-9%2]").tasks, job_id("123_[1,3,10-20:5]").tasks
    (6, 5)
    >>> job_id("123_[1-3,7,...]").cut, job_id("123.batch").step, job_id("123+1").component
    (True, True, 1)
    """
    if PLAIN_ID.fullmatch(text):
        return JobId(int(text))
    match = JOB_ID.fullmatch(text.strip())
    if match is None:
        msg = f"{text!r} is not a job id of Slurm"
        raise ValueError(msg)
    leader = int(match[1])
    component = int(match[5]) if match[5] is not None else None
    if match[3] is None:
        return JobId(leader, component=component, step=match[6] is not None)
    tasks, cut = _tasks(match[3], text)
    cut = cut or match[4] is None
    return JobId(leader, tasks, cut, component, match[6] is not None, array=True)


def _tasks(listed: str, text: str) -> tuple[int, bool]:
    """Return the number of listed tasks, and whether more are not listed."""
    count, cut = 0, False
    parts = listed.partition("%")[0].split(",")
    for i, part in enumerate(parts):
        match = RANGE.fullmatch(part)
        if match is None:
            if i == len(parts) - 1:  # "..." or half a range
                cut = True
                break
            msg = f"{text!r} has no list of tasks"
            raise ValueError(msg)
        first, last = int(match[1]), int(match[2] or match[1])
        step = int(match[3] or 1)
        if last < first or not step or last >= MOST_TASKS:
            msg = f"{text!r} has no list of tasks"
            raise ValueError(msg)
        count += (last - first) // step + 1
    return max(count, 1), cut

"""What a reader found in a log: traps that it handled, each counted, and rows that it cannot read."""

from __future__ import annotations

from enum import StrEnum

from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.records.findings import Findings

MOST_PROBLEMS = 50
"""Bad rows that are reported one by one; a last line counts the others."""


class Trap(StrEnum):
    """Properties of logs that make a plain reading wrong."""

    REQUEUED = "requeued"
    REQUEUES_HIDDEN = "requeues-hidden"
    ID_REUSED = "id-reused"
    DUPLICATE = "duplicate"
    REPEATED = "repeated-row"
    GAP = "gap"
    LENGTH_DIFFERS = "length-differs"
    LENGTH_UNIT = "length-unit"
    WINDOW_EDGE = "window-edge"
    OUTSIDE_PERIOD = "outside-period"
    SHORT_WINDOW = "short-window"
    NO_ELIGIBLE = "no-eligible"
    ARRAY_PENDING = "array-pending"
    ARRAY_CUT = "array-cut"
    STEP = "step"
    HET_JOB = "het-job"
    EXCLUSIVE = "exclusive"
    NO_ALLOCATION = "no-allocation"
    PARTITION = "partition"
    PARTITION_UNKNOWN = "partition-unknown"
    GRES_UNKNOWN = "resource-unknown"
    NEVER_STARTED = "never-started"
    RUNNING = "running"
    RUNAWAY = "runaway"
    SUSPENDED = "suspended"
    LOCAL_TIME = "local-time"
    REPEATED_HOUR = "repeated-hour"
    POLICY_REASON = "policy-reason"
    ONE_USER = "one-user"
    PREEMPTIBLE = "preemptible"
    CPU_ONLY = "cpu-only"
    START_BEFORE_SUBMIT = "start-before-submit"
    NO_START = "no-start"
    NO_END = "no-end"
    COLUMNS_UNUSED = "columns-unused"
    SCHEMA_UNKNOWN = "schema-unknown"
    LAST_CONDITION = "last-condition"
    EVICTED = "evicted"
    READMITTED = "readmitted"
    DELETED = "deleted"
    NO_FINISHED = "no-finished"
    DEVICE_CLAIM = "device-claim"
    QUOTA_DIFFERS = "quota-differs"
    OTHER_OBJECT = "other-object"


MEANINGS: dict[Trap, tuple[str, str]] = {
    Trap.REQUEUED: (
        "runs of jobs that went back to the queue",
        "each run has its own wait and its own time on accelerators",
    ),
    Trap.REQUEUES_HIDDEN: (
        "jobs with restarts whose earlier runs are not in the file",
        "waits and use are too low; export with sacct -D",
    ),
    Trap.ID_REUSED: ("job ids that belong to several jobs", "kept apart by submission"),
    Trap.DUPLICATE: ("runs that occur twice", "counted once"),
    Trap.REPEATED: (
        "rows without an id that equal an earlier row",
        "all count, because they may be tasks of one array; a column job tells them apart",
    ),
    Trap.GAP: (
        "pauses in which other weeks have submissions",
        "they count as time without demand; export them, or give the parts before and after apart",
    ),
    Trap.LENGTH_DIFFERS: (
        "runs whose recorded length is not the time from start to end",
        "start and end count; of a table, the shorter of both",
    ),
    Trap.LENGTH_UNIT: (
        "runs that are as long as milliseconds read as seconds",
        "read as seconds; divide milliseconds by 1,000",
    ),
    Trap.WINDOW_EDGE: (
        "runs submitted before the window of the log",
        "kept for the use of accelerators; jobs of that time that ended early are missing",
    ),
    Trap.OUTSIDE_PERIOD: ("runs outside the period", "left out"),
    Trap.SHORT_WINDOW: (
        "files that cover less than a day from a midnight on",
        "sacct without -S exports today only; give -S and -E",
    ),
    Trap.NO_ELIGIBLE: (
        "runs without the moment from which they could start",
        "their wait counts from submission",
    ),
    Trap.ARRAY_PENDING: ("pending arrays in one row", "expanded to one run a task"),
    Trap.ARRAY_CUT: (
        "pending arrays whose list of tasks is cut off",
        "only the listed tasks count; export with SLURM_BITSTR_LEN=0",
    ),
    Trap.STEP: ("steps of jobs", "left out: they repeat the allocation"),
    Trap.HET_JOB: ("components of heterogeneous jobs", "counted as one gang a job"),
    Trap.EXCLUSIVE: (
        "runs that held more accelerators than they asked for",
        "held accelerators count as use, the request as demand",
    ),
    Trap.NO_ALLOCATION: (
        "runs that started without accelerators in their allocation",
        "their request counts as held",
    ),
    Trap.PARTITION: ("runs on partitions of accelerators", "counted as shares of an accelerator"),
    Trap.PARTITION_UNKNOWN: (
        "runs on partitions whose share is unknown",
        "left out; give the share of each partition",
    ),
    Trap.GRES_UNKNOWN: (
        "runs with a resource that is not known as an accelerator",
        "left out; --mig NAME=1 counts each unit of it as an accelerator",
    ),
    Trap.NEVER_STARTED: (
        "runs that left the queue, or are in it, without a start",
        "counted in the waits, and not replayed: their run time is unknown",
    ),
    Trap.RUNNING: ("runs without an end", "they run until the end of the log"),
    Trap.RUNAWAY: (
        "runs without an end that are older than their time limit",
        "taken to have ended at the limit",
    ),
    Trap.SUSPENDED: ("runs with suspensions", "suspended time is not time on accelerators"),
    Trap.LOCAL_TIME: ("local times without a zone", "read in the zone that was given"),
    Trap.REPEATED_HOUR: (
        "submissions in the hour that the clock repeats",
        "assigned by the order of job ids",
    ),
    Trap.POLICY_REASON: (
        "runs held by a limit, a dependency or another rule",
        "kept with its reason: more accelerators do not shorten this wait",
    ),
    Trap.ONE_USER: (
        "runs of one single user",
        "the export may show own jobs only; ask an administrator for sacct -a",
    ),
    Trap.PREEMPTIBLE: (
        "runs of a QOS and a partition in which runs were preempted, or marked so",
        "counted as preemptible",
    ),
    Trap.CPU_ONLY: ("runs that ask for no accelerator", "left out"),
    Trap.START_BEFORE_SUBMIT: (
        "runs that started before they were submitted",
        "their wait is zero: submission moved to the start",
    ),
    Trap.NO_START: (
        "runs with neither a start nor a wait",
        "taken to start when submitted; the log shows no waits",
    ),
    Trap.NO_END: (
        "runs that started, with neither an end nor a duration, in a final state",
        "taken to run until the end of the log",
    ),
    Trap.COLUMNS_UNUSED: ("columns that are not read", "their values change nothing"),
    Trap.SCHEMA_UNKNOWN: (
        "files of a newer or older layout than the readers know",
        "read as the nearest known layout; prefer sacct -P",
    ),
    Trap.LAST_CONDITION: (
        "workloads whose last transition is all that is known",
        "earlier admissions and evictions are not in the file; record events to have them",
    ),
    Trap.EVICTED: ("workloads that were evicted", "their earlier runs are not in the file"),
    Trap.READMITTED: (
        "workloads admitted again after an eviction whose time is lost",
        "the time before the last admission does not count as wait for capacity",
    ),
    Trap.DELETED: ("workloads that were deleted", "they end at their deletion"),
    Trap.NO_FINISHED: (
        "files without a finished workload",
        "past demand is missing: workloads are deleted with their jobs",
    ),
    Trap.DEVICE_CLAIM: (
        "workloads whose devices come from resource claims",
        "left out: the claim names no number of accelerators",
    ),
    Trap.QUOTA_DIFFERS: (
        "workloads whose use of quota differs from their devices",
        "devices count, quota does not",
    ),
    Trap.OTHER_OBJECT: ("objects that are not workloads", "left out"),
}
"""What each trap counts, and what the reader did about it."""


class Found(Findings[Trap]):
    """Collects findings and bad rows while files are read."""

    def __init__(self) -> None:
        super().__init__(MEANINGS)
        self._problems: list[Problem] = []
        self._bad = 0

    def bad(self, path: str, line: int, cause: str, help_text: str = "") -> None:
        """Note a row that cannot be read."""
        self._bad += 1
        if len(self._problems) < MOST_PROBLEMS:
            self._problems.append(Problem("DC057", cause, Place(path, line), help=help_text))

    def problems(self) -> list[Problem]:
        """Return the bad rows; a last entry counts those that are not listed."""
        left = self._bad - len(self._problems)
        last = self._problems[-1].place if left else None
        if last is None:
            return list(self._problems)
        cause = f"{left:,} more rows cannot be read, {self._bad:,} in total"
        return [*self._problems, Problem("DC057", cause, Place(last.path, last.line + 1))]

    def raise_bad(self) -> None:
        """Raise every bad row.

        Raises
        ------
        InputError
            When there is one (DC057).
        """
        if self._bad:
            raise InputError(self.problems())


def lacking(error: Exception) -> str:
    """Return what is wrong with an object of a list that a reader could not use.

    Examples
    --------
    >>> lacking(KeyError("metadata")), lacking(TypeError("'NoneType' object is not iterable"))
    ("has no field 'metadata'", 'has a field of the wrong type')
    """
    if isinstance(error, KeyError):
        return f"has no field {error.args[0]!r}"
    if isinstance(error, ValueError):
        return f"cannot be read: {error}"
    return "has a field of the wrong type"

"""Tables of the logs themselves: files, findings of the readers, recorded waits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.metric import Better, MetricSpec
from dcplan.specs.table import Column, Section, Shown, TableSpec

Cluster = Annotated[str, Column("Cluster: a pool of the logs, or all pools together")]

JOBS = MetricSpec("demand.jobs", "", "Runs of jobs that ask for accelerators", main=True)
DAYS = MetricSpec("demand.days", "days", "Days from the first submission to the last", main=True)
OFFERED = MetricSpec(
    "demand.<cluster>.offered_accelerators",
    "",
    "Accelerators that the jobs would use on average if nobody waited",
)
CAPACITY_FRAC = MetricSpec(
    "demand.<cluster>.capacity_wait_frac",
    "",
    "Share of the recorded wait that more accelerators would shorten",
)
POLICY_FRAC = MetricSpec(
    "demand.<cluster>.policy_wait_frac",
    "",
    "Share of the recorded wait in which the job would have fitted: limits, holds, priorities",
    better=Better.LOWER,
)


@dataclass(frozen=True)
class FileRow:
    """One log file."""

    file: Annotated[str, Column("File")]
    kind: Annotated[str, Column("Format that was recognized or given")]
    rows: Annotated[int, Column("Rows of the file")]
    first: Annotated[
        str | None, Column("Earliest time of the file, in UTC where the log has dates")
    ]
    last: Annotated[str | None, Column("Latest time of the file: submission, start or end")]
    sha256: Annotated[str, Column("Hash of the content", shown=Shown.VERBOSE)]


FILES = TableSpec("log_files", FileRow, "Logs", section=Section.OTHER)


@dataclass(frozen=True)
class FindingRow:
    """One way in which a log is not what it seems."""

    finding: Annotated[str, Column("Kind of the finding")]
    count: Annotated[int, Column("Rows that it concerns")]
    first_at: Annotated[str, Column("Place of the first of them")]
    what: Annotated[str, Column("What the log has")]
    effect: Annotated[str, Column("What dcplan does with it")]


FINDINGS = TableSpec(
    "log_findings", FindingRow, "What the logs have and how it is read", section=Section.RISK
)


@dataclass(frozen=True)
class WaitRow:
    """Recorded waits of one cluster, in parts."""

    cluster: Cluster
    jobs: Annotated[int, Column("Runs that started")]
    never_started: Annotated[int, Column("Runs that were submitted and never started")]
    accelerators: Annotated[float, Column("Accelerators of the cluster, as given or as assumed")]
    peak_used: Annotated[float, Column("Largest number of accelerators in use, as recorded")]
    used_frac: Annotated[
        float, Column("Accelerator-hours in use over those of the cluster in the time of the log")
    ]
    wait_p50_h: Annotated[float | None, Column("Median of the recorded wait")]
    wait_p95_h: Annotated[float | None, Column("95th percentile of the recorded wait")]
    wait_mean_h: Annotated[float | None, Column("Mean of the recorded wait")]
    before_frac: Annotated[
        float | None,
        Column("Share of the wait before the job could start: dependencies, start times"),
    ]
    short_frac: Annotated[float | None, Column("Share of the wait with too few idle accelerators")]
    scattered_frac: Annotated[
        float | None, Column("Share of the wait with enough idle accelerators, on no fitting nodes")
    ]
    behind_frac: Annotated[
        float | None,
        Column("Share of the wait behind a job that waited for accelerators, though it would fit"),
    ]
    cycle_frac: Annotated[float | None, Column("Share of the wait for the period of the scheduler")]
    policy_frac: Annotated[
        float | None,
        Column("Share of the wait in which the job would have fitted, and none ahead was short"),
    ]
    waiting_mean: Annotated[
        float | None, Column("Runs in the queue, averaged over the log", shown=Shown.VERBOSE)
    ]
    little_gap_frac: Annotated[
        float, Column("Deviation from Little's identity: a test of the reader", shown=Shown.VERBOSE)
    ]


WAITS = TableSpec("recorded_waits", WaitRow, "Recorded waits", section=Section.ORDERS)


@dataclass(frozen=True)
class ReasonRow:
    """Waits that the log gives one reason for."""

    cluster: Cluster
    reason: Annotated[str, Column("Last reason that the scheduler recorded")]
    jobs: Annotated[int, Column("Runs with this reason")]
    wait_h: Annotated[float, Column("Their waits, added up")]
    policy_h: Annotated[float, Column("Part of these waits in which the run would have fitted")]


REASONS = TableSpec("wait_reasons", ReasonRow, "Waits by reason", section=Section.LIMITS, first=12)

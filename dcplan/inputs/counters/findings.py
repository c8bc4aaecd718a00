"""What a reader found in samples of counters, counted, each with the first row that has it."""

from __future__ import annotations

from enum import StrEnum

from dcplan.inputs.records.findings import Findings


class Oddity(StrEnum):
    """Properties of samples that make a plain reading wrong."""

    OUT_OF_RANGE = "counter-out-of-range"
    UTIL_UNIT = "counter-unit"
    NO_VALUE = "counter-unknown"
    GAP = "sample-gap"
    TWICE = "sample-twice"
    APART = "counters-apart"
    PARTITION = "sample-of-partition"
    SCRAPE_JOB = "scrape-job"
    NOT_READ = "counter-not-read"
    COLUMNS_UNUSED = "sample-columns-unused"
    MILLISECONDS = "milliseconds"
    LOCAL_TIME = "sample-local-time"
    JOB_UNKNOWN = "job-not-in-log"
    UNPLACED = "runs-without-nodes"
    UNCLEAR = "allocation-unclear"
    OVERFULL = "more-held-than-sampled"


MEANINGS: dict[Oddity, tuple[str, str]] = {
    Oddity.OUT_OF_RANGE: ("values outside the range of their counter", "left out: unknown, not 0"),
    Oddity.UTIL_UNIT: (
        "GPU_UTIL_RATIO at most 1: percent in early DCGM 4, a ratio in later releases",
        "read as a ratio",
    ),
    Oddity.NO_VALUE: ("samples without a value of a counter", "unknown: in no sum, and not 0"),
    Oddity.GAP: ("pauses between samples", "hours of the window that nobody has seen"),
    Oddity.TWICE: ("values of the same accelerator, time and counter", "the first one counts"),
    Oddity.APART: (
        "samples that have only some of the counters of the file",
        "each counter counts in its own samples; export all with a common step",
    ),
    Oddity.PARTITION: (
        "samples of MIG instances",
        "left out: an instance is a part of an accelerator",
    ),
    Oddity.SCRAPE_JOB: ("column job is the collector", "it names no job of a user"),
    Oddity.NOT_READ: ("rows of other counters", "left out"),
    Oddity.COLUMNS_UNUSED: ("columns that are not read", "their values change nothing"),
    Oddity.MILLISECONDS: ("times in milliseconds", "divided by 1,000"),
    Oddity.LOCAL_TIME: ("times without a zone", "read in the zone that was given"),
    Oddity.JOB_UNKNOWN: (
        "samples of jobs that the log does not have",
        "allocated; queue and user are unknown",
    ),
    Oddity.UNPLACED: (
        "runs of the log without nodes",
        "while one runs, no accelerator without a job counts as free: its allocation is unknown",
    ),
    Oddity.UNCLEAR: (
        "samples of nodes of which jobs hold a part",
        "allocation unknown: the log does not say which accelerators of the node",
    ),
    Oddity.OVERFULL: (
        "samples of nodes on which jobs hold more accelerators than have samples",
        "all accelerators with samples count as allocated",
    ),
}
"""What each oddity counts, and what follows."""


class Notes(Findings[Oddity]):
    """Collects what is odd in samples; details are counted apart."""

    def __init__(self) -> None:
        super().__init__(MEANINGS, apart=True)

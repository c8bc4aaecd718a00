"""Names of counters and of columns in exports of DCGM, its exporter, Prometheus and Grafana."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from dcplan.units import MICRO


class Counter(StrEnum):
    """Counters that are read, by their names in DCGM 3."""

    UTIL = "GPU_UTIL"
    SM = "SM_ACTIVE"
    TENSOR = "PIPE_TENSOR_ACTIVE"
    POWER = "POWER_USAGE"
    MEMORY = "FB_USED"


@dataclass(frozen=True)
class Meaning:
    """What a counter counts."""

    unit: str
    low: float
    high: float
    what: str


MEANINGS = {
    Counter.UTIL: Meaning("%", 0.0, 100.0, "share of the time in which a kernel ran"),
    Counter.SM: Meaning(
        "", 0.0, 1.0 + MICRO, "share of the cycles with a warp on an SM, mean of SMs"
    ),
    Counter.TENSOR: Meaning("", 0.0, 1.0 + MICRO, "share of the cycles with a busy tensor pipe"),
    Counter.POWER: Meaning("W", 0.0, math.inf, "power of the board"),
    Counter.MEMORY: Meaning("MiB", 0.0, math.inf, "memory in use"),
}
"""Range and unit by the field identifiers of DCGM: GPU_UTIL is in percent, profiling fields are
ratios. https://docs.nvidia.com/datacenter/dcgm/latest/dcgm-api/dcgm-api-field-ids.html"""
NAMES = {
    **{c.value.lower(): c for c in Counter},
    "gpu_util_ratio": Counter.UTIL,
    "sm_util_ratio": Counter.SM,
    "tensor_util_ratio": Counter.TENSOR,
    "tensor_active": Counter.TENSOR,
    "board_power_watts": Counter.POWER,
    "power": Counter.POWER,
}
"""Names without the prefix of DCGM, in lower case; those with RATIO and WATTS are of DCGM 4."""
PERCENT_OR_RATIO = "gpu_util_ratio"
"""DCGM 4 renamed field 203, which is in percent; later releases have a ratio under this name."""
PREFIXES = ("dcgm_fi_dev_", "dcgm_fi_prof_", "dcgm_")
DOUBTFUL = frozenset(("power",))
"""Names that say nothing about the kind of a file."""
COLUMNS = {
    "time": (
        *("timestamp", "time", "ts", "date", "datetime", "time_s", "timestamp_s"),
        *("timestamp_ms", "time_ms"),
    ),
    "uuid": ("uuid", "gpu_uuid", "dcgm_fi_dev_uuid"),
    "gpu": ("gpu", "gpu_id", "gpu_index", "index", "device"),
    "node": ("hostname", "node", "host", "nodename", "node_name", "exported_instance", "instance"),
    "counter": ("counter", "metric", "metric_name", "__name__", "field", "name"),
    "value": ("value", "val"),
    "job": (
        *("hpc_job", "job_id", "jobid", "slurm_job_id", "slurmjobid", "slurm_jobid"),
        *("exported_pod", "pod", "job"),
    ),
    "queue": (
        *("queue", "partition", "vc", "virtual_cluster", "pool", "exported_namespace"),
        "namespace",
    ),
    "user": ("user", "username", "user_id", "account"),
    "cluster": ("cluster", "cluster_name"),
    "instance": ("gpu_i_id",),
}
"""Names of each column, in lower case, the most specific first."""
SCRAPED = frozenset(("__name__", "instance", "prometheus", "endpoint"))
"""Columns of Prometheus, whose ``job`` is the job that collects samples."""
HELP = (
    "samples are a CSV with time, UUID (or Hostname and gpu), and a column for each counter such as "
    "DCGM_FI_PROF_SM_ACTIVE, or the columns counter and value; a column job_id, hpc_job or pod "
    "names the job"
)


def counter_of(name: str) -> Counter | None:
    """Return the counter of a name; None for another one.

    Examples
    --------
    >>> counter_of("DCGM_FI_PROF_SM_UTIL_RATIO"), counter_of("DCGM_FI_DEV_XID_ERRORS")
    (<Counter.SM: 'SM_ACTIVE'>, None)
    """
    return NAMES.get(plain(name))


def plain(name: str) -> str:
    """Return a name in lower case without the prefix of DCGM."""
    low = name.strip().lower()
    return next((low[len(p) :] for p in PREFIXES if low.startswith(p)), low)


def positions(header: Sequence[str]) -> dict[str, int]:
    """Return the position of each column that is known."""
    names = [name.strip().lower() for name in header]
    found = {
        key: next(names.index(n) for n in known if n in names)
        for key, known in COLUMNS.items()
        if any(n in names for n in known)
    }
    if "job" in found and names[found["job"]] == "job" and SCRAPED & set(names):
        del found["job"]  # the collector, not a job of a user
    return found


def are_samples(header: Sequence[str]) -> bool:
    """Return whether a header is one of samples of counters.

    Examples
    --------
    >>> are_samples(["time", "Hostname", "gpu", "DCGM_FI_DEV_GPU_UTIL"])
    True
    >>> are_samples(["submit", "start", "end", "n"])
    False
    """
    found = positions(header)
    named = any(counter_of(x) is not None and plain(x) not in DOUBTFUL for x in header)
    long = {"counter", "value"} <= found.keys()
    return "time" in found and bool({"uuid", "gpu"} & found.keys()) and (named or long)

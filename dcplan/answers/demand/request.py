"""Request of ``dcplan demand``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from dcplan.answers.demand.steps import Progress
from dcplan.scenario.ref import Catalogs
from dcplan.specs.request import Flag
from dcplan.units import MOST_USD_PER_ACCELERATOR_HOUR

ORDERS = ("backfill", "fifo")
LOG, CLUSTER, TARGET = "Logs", "Cluster", "Target"
REQUESTS, AHEAD, INCIDENTS, BILLS = "Requests", "Forecast", "Incidents", "Bills"


def _pair(name: str, value: Any) -> str:
    return f"{name}={value}"


@dataclass(frozen=True)
class DemandRequest:
    """Logs of jobs, the cluster that ran them, and the wait that users accept."""

    files: Annotated[
        tuple[Path, ...],
        Flag(
            "logs of jobs (sacct, Kueue workloads, CSV), one trace of requests to a model, "
            "logs of incidents, samples of DCGM counters or bills in rows of FOCUS (CSV)",
            metavar="FILE",
            argument=True,
        ),
    ]
    kind: Annotated[
        str | None,
        Flag(
            "format of the files (default: recognized from their content)",
            choices=(
                *("sacct", "sacct-json", "kueue", "csv", "requests", "incidents", "counters"),
                "focus",
            ),
            panel=LOG,
        ),
    ] = None
    counters: Annotated[
        tuple[Path, ...],
        Flag(
            "samples of DCGM counters of the cluster that ran the jobs (CSV)",
            metavar="FILE",
            panel=LOG,
        ),
    ] = ()
    timezone: Annotated[
        str | None, Flag("zone of local times, such as Europe/Zurich", metavar="ZONE", panel=LOG)
    ] = None
    mig: Annotated[
        tuple[str, ...],
        Flag(
            "share of an accelerator of a MIG profile or of another resource, such as "
            "1g.10gb=0.142857 or vpu=1",
            metavar="NAME=SHARE",
            comma=True,
            pair=_pair,
            panel=LOG,
        ),
    ] = ()
    accelerators: Annotated[
        tuple[str, ...],
        Flag(
            "accelerators of the cluster: one number for all pools together, or POOL=N for pools "
            "with accelerators of their own (default: the recorded peak of each pool)",
            metavar="N",
            comma=True,
            pair=_pair,
            panel=CLUSTER,
        ),
    ] = ()
    accelerators_per_node: Annotated[
        int | None,
        Flag("accelerators of a node (default: they are counted, not placed)", low=1, high=100_000),
    ] = None
    order: Annotated[
        str | None,
        Flag(
            "order of the queue (default: the one that repeats the recorded waits best)",
            choices=ORDERS,
            panel=CLUSTER,
        ),
    ] = None
    quota: Annotated[
        tuple[str, ...],
        Flag(
            "accelerators that the jobs of a pool may hold in a shared cluster",
            metavar="POOL=N",
            comma=True,
            pair=_pair,
            panel=CLUSTER,
        ),
    ] = ()
    loss_h: Annotated[
        float,
        Flag("work that a stopped job repeats, at most", unit="h", low=0, high=1e4, panel=CLUSTER),
    ] = 0.5
    cycle_s: Annotated[
        float, Flag("period of the scheduler", unit="s", low=0, high=86_400, panel=CLUSTER)
    ] = 60.0
    wait_h: Annotated[
        float, Flag("longest wait that users accept", unit="h", low=0, high=1e4, panel=TARGET)
    ] = 1.0
    wait_quantile: Annotated[
        float, Flag("share of the jobs that wait no longer", low=0.5, high=0.99, panel=TARGET)
    ] = 0.95
    own_usd_per_accelerator_hour: Annotated[
        float | None,
        Flag(
            "cost of an own accelerator in each hour, used or not",
            unit="USD",
            low=0,
            high=MOST_USD_PER_ACCELERATOR_HOUR,
            panel=TARGET,
        ),
    ] = None
    rent_usd_per_accelerator_hour: Annotated[
        float | None,
        Flag(
            "price of a rented accelerator-hour, for jobs that leave when their wait is over the "
            "target",
            unit="USD",
            low=0,
            high=MOST_USD_PER_ACCELERATOR_HOUR,
            panel=TARGET,
        ),
    ] = None
    most_rented: Annotated[
        int | None, Flag("largest job that may run elsewhere (default: any)", low=1, panel=TARGET)
    ] = None
    draws: Annotated[
        int, Flag("draws of weeks for the interval of each size", low=0, high=1_000, panel=TARGET)
    ] = 20
    seed: Annotated[int, Flag("seed of the draws", low=0, panel=TARGET)] = 1
    model: Annotated[
        str | None,
        Flag(
            "model that serves logged requests, for the workloads block",
            complete="models",
            panel=REQUESTS,
        ),
    ] = None
    ttft_ms: Annotated[
        float | None,
        Flag("limit of the time to first token", unit="ms", low=1, high=1e7, panel=REQUESTS),
    ] = None
    tpot_ms: Annotated[
        float | None,
        Flag("limit of the time per output token", unit="ms", low=0.1, high=1e6, panel=REQUESTS),
    ] = None
    start: Annotated[
        str | None,
        Flag(
            "first quarter of the workloads block, such as 2027-Q1", metavar="YYYY-Qn", panel=AHEAD
        ),
    ] = None
    quarters: Annotated[
        int, Flag("quarters of the workloads block", low=1, high=80, panel=AHEAD)
    ] = 4
    growth_frac_per_quarter: Annotated[
        float | None,
        Flag(
            "growth of the demand per quarter (default: that of the log, no farther than it reaches)",
            low=-0.9,
            high=10,
            panel=AHEAD,
        ),
    ] = None
    nodes: Annotated[
        int | None,
        Flag(
            "nodes of the cluster that could fail, averaged over the window",
            low=1,
            high=10_000_000,
            panel=INCIDENTS,
        ),
    ] = None
    window: Annotated[
        str | None,
        Flag(
            "time in which all incidents were recorded, such as 2026-06-01/2026-09-01 (default: "
            "from the first to the last time of the log)",
            metavar="START/END",
            panel=INCIDENTS,
        ),
    ] = None
    job_nodes: Annotated[
        tuple[int, ...],
        Flag(
            "nodes of a job whose interruptions are computed; repeat for more jobs (default: "
            "powers of 4 up to the cluster)",
            low=1,
            high=100_000_000,
            panel=INCIDENTS,
        ),
    ] = ()
    job_days: Annotated[
        float, Flag("length of these jobs", unit="days", low=0.001, high=10_000, panel=INCIDENTS)
    ] = 1.0
    fx: Annotated[
        tuple[str, ...],
        Flag(
            "exchange rate: USD for one unit, such as EUR=1.08; repeat for more currencies",
            metavar="CURRENCY=RATE",
            panel=BILLS,
        ),
    ] = ()
    progress: Annotated[
        Progress | None, Flag("callback of each step of the sizes", python_only=True)
    ] = None
    catalogs: Catalogs = ()

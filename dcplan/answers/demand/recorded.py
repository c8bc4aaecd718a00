"""Statistics of the recorded jobs: run times, sizes, and how the jobs ended."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dcplan.answers.demand.clusters import Recording
from dcplan.demand.log.jobs import State
from dcplan.demand.log.size import wait_quantile
from dcplan.specs.demand.jobs import JobsRow, OutcomeRow
from dcplan.units import SECONDS_PER_HOUR

UNSAID = frozenset((State.COMPLETED, State.RUNNING, State.PENDING))
"""States that a reader derives from the times of a run where the log names none."""


def jobs_row(cluster: Recording) -> JobsRow:
    """Return run times and sizes of the runs that started."""
    log = cluster.log.rows(cluster.log.started)
    hours = log.busy_s / SECONDS_PER_HOUR
    ended = hours[np.isfinite(log.end_s) & np.isfinite(hours)]
    return JobsRow(
        cluster.name,
        len(log),
        wait_quantile(ended, 0.5) if len(ended) else None,
        float(ended.mean()) if len(ended) else None,
        float(ended.max()) if len(ended) else None,
        wait_quantile(log.accelerators, 0.5) if len(log) else 0.0,
        float(log.accelerators.mean()) if len(log) else 0.0,
        float(np.max(log.accelerators, initial=0.0)),
        float(np.nansum(log.accelerators * hours)),
    )


def outcome_rows(cluster: Recording) -> Iterator[OutcomeRow]:
    """Return the runs by their end, the most accelerator-hours first; none if the log names no end."""
    log = cluster.log
    states = np.unique(log.state).tolist()
    if UNSAID.issuperset(map(State, states)):
        return
    hours = np.nan_to_num(log.accelerators * log.busy_s) / SECONDS_PER_HOUR
    whole = float(hours.sum())
    rows = []
    for state in states:
        mine = log.state == state
        own = float(hours[mine].sum())
        name = State(state).name.lower().replace("_", " ")
        count = int(mine.sum())
        share = own / whole if whole else None
        rows.append(OutcomeRow(cluster.name, name, count, count / len(log), own, share))
    yield from sorted(rows, key=lambda r: -r.accelerator_hours)

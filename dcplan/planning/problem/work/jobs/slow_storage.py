"""Effect of a storage of given capacity on the runs of a plan, and its words."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from dcplan.inputs.log import InputLog
from dcplan.inputs.recovery import policy
from dcplan.inputs.storage import DEFAULT_TIER, fed_step_s, given_rates, unlimited
from dcplan.llm.tables import Array
from dcplan.planning.problem.work.jobs.outlooks import Outlooks, storage_at
from dcplan.planning.problem.work.jobs.pace import Pace
from dcplan.planning.problem.work.targets import Target
from dcplan.planning.problem.work.terms import JobTerms
from dcplan.reliability.outlook import write_s
from dcplan.scenario.schema import Storage
from dcplan.units import SECONDS_PER_MINUTE

REMARK_DAYS = 0.05
"""Lost time below which a plan says nothing."""
STEP_TOLERANCE = 1.0 + 1e-9
"""Ratio above which a step is longer."""


def too_slow(storage: Storage | None, pace: Pace, log: InputLog) -> str:
    """Return words if storage slows the largest count, otherwise none."""
    if not pace.step_time_s.size or not np.isfinite(pace.step_time_s[-1]):
        return ""
    given, level = given_rates(storage, log), (storage or Storage()).level
    write = log.parameter("storage", f"storage-write-gb-per-s-per-gpu-{level}")
    fed = float(fed_step_s(storage, pace, log)[-1]) > float(pace.step_time_s[-1]) * STEP_TOLERANCE
    if given.write_gb_per_s < write * float(pace.accelerators[-1]) or (
        fed and math.isfinite(given.read_gb_per_s)
    ):
        return (
            f" (the given storage reads {given.read_gb_per_s:.3g} GB/s and writes "
            f"{given.write_gb_per_s:.3g} GB/s)"
        )
    return " (the storage read rate of the level limits the step)" if fed else ""


def storage_losses(
    outlooks: Outlooks, target: Target, pace: Pace, terms: JobTerms, left: int | None, days: Array
) -> dict[str, Array]:
    """Return what a storage of given capacity costs at every count; empty without one.

    ``days`` are the durations of the job with this storage, ``left`` its spares if their number is
    given.
    """
    scenario, log = outlooks.question.scenario, outlooks.log
    storage = storage_at(target, scenario)
    if storage is None or storage.usable_pb is None:
        return {}
    step = pace.fed(unlimited(storage), log).step_time_s
    clean = pace.clean_days(step)
    expected = outlooks.of(target, pace, clean, left, free=True)
    free = expected.run(clean, pace.spread_frac).quantile_days(terms.confidence)
    level, given = (policy(scenario.reliability, x, log) for x in (unlimited(storage), storage))
    counts, size = pace.accelerators, pace.checkpoint_bytes
    with np.errstate(invalid="ignore"):  # no layout, no days
        lost = days - np.asarray(free)
    return {
        "storage_lost_days": lost,
        "free_step_s": step,
        "level_write_s": write_s(level, counts, size),
        "checkpoint_write_s": write_s(given, counts, size),
        "given_read_gb_per_s": np.full_like(counts, given.given_read_gb_per_s),
        "given_write_gb_per_s": np.full_like(counts, given.given_write_gb_per_s),
    }


def lost_note(
    job: str, facts: Mapping[str, float], days: float, step_s: float, storage: Storage | None
) -> str | None:
    """Return what the given storage costs a run; None if it costs nothing worth a word."""
    lost = facts.get("storage_lost_days", 0.0)
    if storage is None or storage.usable_pb is None or lost < REMARK_DAYS:
        return None
    write, before = (facts[k] / SECONDS_PER_MINUTE for k in ("checkpoint_write_s", "level_write_s"))
    causes = []
    if step_s > facts["free_step_s"] * STEP_TOLERANCE:
        causes.append(f"a step takes {step_s:.3g} s instead of {facts['free_step_s']:.3g} s")
    if write > before * STEP_TOLERANCE:
        causes.append(f"a checkpoint takes {write:.3g} min to write instead of {before:.3g} min")
    return (
        f"{job}: the storage of {storage.usable_pb.value:g} PB on "
        f"{storage.tier or DEFAULT_TIER} reads {facts['given_read_gb_per_s']:.3g} GB/s and writes "
        f"{facts['given_write_gb_per_s']:.3g} GB/s, and {lost:.1f} of the run's {days:.1f} days "
        f"are lost to it: {', and '.join(causes) or 'restarts load longer'}"
    )

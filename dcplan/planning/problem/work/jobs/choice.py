"""Selection of run options: durations and counts to try, non-dominated options, start months."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from dcplan.inputs.cloud_prices import row_of
from dcplan.inputs.excluded import Cause
from dcplan.llm.tables import Array
from dcplan.planning.problem.work.jobs.pace import Pace
from dcplan.planning.problem.work.targets import Target
from dcplan.planning.problem.work.terms import JobTerms, RunOption
from dcplan.reliability.goodput import REMARK_GOODPUT_FRAC
from dcplan.reliability.job import Bounds
from dcplan.training.estimate import Hardware, Sweep
from dcplan.units import DAYS_PER_MONTH, MONTHS_PER_QUARTER, TERA

MONTH_TARGETS = (1, 2, 3, 4, 6, 9, 12, 18, 24)
"""Durations to try with many jobs and places, in months; with few, every month up to the last."""
SEARCH_DENSE_STEPS = 96
SEARCH_GROWTH = 1.03
SEARCH_FILLED = (1, 3, 5, 7)
"""Micro-batches of a rank whose counts are tried, with their multiples by powers of two; with more
micro-batches, a batch that does not divide loses little."""


def mfu(swept: Sweep, spec: Hardware) -> Array:
    """Return model FLOP/s divided by the peak at every count."""
    return np.asarray(
        swept.flops_per_step / swept.step_time_s / (swept.accelerators * spec.peak_tflops * TERA)
    )


def lengths(terms: JobTerms) -> list[float]:
    """Return the durations to try in days, ascending: months, and the longest possible."""
    longest = min(
        terms.end_day - terms.first_month * DAYS_PER_MONTH, terms.deadline_days or math.inf
    )
    months = range(1, MONTH_TARGETS[-1] + 1) if terms.every_month else MONTH_TARGETS
    usual = {m * DAYS_PER_MONTH for m in months}
    return sorted({*(x for x in usual | set(terms.extra_days) if x <= longest), longest})


def counts(unit: int, limit: int, sequences: float = 0.0) -> list[int]:
    """Return the accelerator counts to try.

    They are every unit at first, then steps of 3 %, and those that a batch fills.

    Parameters
    ----------
    unit, limit : int
        Accelerators of a unit, and the most of all units. [-]
    sequences : float, default 0
        Sequences of one optimizer step; 0 if no batch is divided. [-]

    Examples
    --------
    1,024 sequences fill 1,024 accelerators with one each, and 342 with 3 each. 2 accelerators for
    one sequence are 684 with 3 micro-batches each.

    >>> {684, 1024} <= set(counts(2, 2000, 1024.0))
    True
    """
    tried, units = set[int](), 1
    while units * unit <= limit:
        tried.add(units * unit)
        units = units + 1 if units < SEARCH_DENSE_STEPS else math.ceil(units * SEARCH_GROWTH)
    if sequences > 0.0:
        tried |= _filled(unit, limit, sequences)
    return sorted(tried) or [unit]


def _filled(unit: int, limit: int, sequences: float) -> set[int]:
    """Return counts beyond the first units whose ranks all have the same micro-batches."""
    found, least = set[int](), SEARCH_DENSE_STEPS * unit
    for micro_batches in SEARCH_FILLED if limit > least else ():
        replicas = math.ceil(sequences / micro_batches)
        powers = (math.log2(n / replicas) for n in (least, limit))
        first, last = (math.floor(p) for p in powers)
        # accelerators of one replica: more than one, or a part where one has more sequences
        counts = (math.ceil(replicas * 2.0**p / unit) * unit for p in range(first, last + 1))
        found.update(n for n in counts if least < n <= limit)
    return found


def sample_counts(unit: int, limit: int) -> Array:
    """Return counts, each twice the one before, from one unit to the limit."""
    steps = math.ceil(math.log2(max(limit / unit, 1.0))) + 1
    return np.asarray(np.minimum(unit * 2.0 ** np.arange(steps), max(limit, unit)))


def why_none(
    pace: Pace, target: Target, precision: str, goodput: float | None = None
) -> tuple[str, Cause]:
    """Return why a place has no run option: its memory, its size or its stops."""
    if not pace.accelerators.size:
        text = f"{precision}: too slow with its {target.limit:,} {target.accelerator}"
        return text, Cause.OTHER
    if not pace.fits:
        count = int(pace.accelerators[-1])
        text = f"{precision}: {pace.unfit} in the memory of up to {count:,} {target.accelerator}"
        return text, Cause.MEMORY
    most = f"{precision}: too slow with up to {int(pace.accelerators[-1]):,} {target.accelerator}"
    if goodput is not None and goodput < REMARK_GOODPUT_FRAC:
        most += f" at {goodput:.0%} goodput"
    if target.offer is not None:
        alone = target.offer.most_per_job
        most += (
            " (cloud.max_accelerators_per_offer)"
            if alone is None or alone > target.limit
            else f" (no network between instances is known; give prices.{row_of(target.offer.id)}.scaleout_gbps)"
        )
    return most, Cause.OTHER


def too_late(run_options: Sequence[RunOption], terms: JobTerms) -> str:
    """Return why no start of a place's runs ends in time: delays of their hardware count."""
    run = min(run_options, key=lambda x: x.finish_days if terms.dated else x.days)
    late_days = run.finish_days - run.days if terms.dated else 0.0
    left_days = terms.end_day - terms.first_month * DAYS_PER_MONTH
    until = "its deadline" if terms.dated else "the end of the horizon"
    late = f" and late delivery adds {late_days:.0f}" if late_days >= 1.0 else ""
    return f"a run takes {run.days:.0f} days{late}, and {left_days:.0f} days are left until {until}"


def joint_cause(causes: Sequence[Cause]) -> Cause:
    """Return the cause of a place without an option from those of its precisions."""
    if Cause.MEMORY in causes:
        return Cause.MEMORY
    return Cause.UNSUPPORTED if set(causes) == {Cause.UNSUPPORTED} else Cause.OTHER


def length(config: RunOption, terms: JobTerms) -> float:
    """Return the duration that distinguishes run options of the same size.

    It is an integer number of months, or days if durations between months are requested.
    """
    return config.days if terms.extra_days else float(config.months)


def undominated(run_options: list[RunOption], terms: JobTerms) -> list[RunOption]:
    """Remove run options that need no fewer accelerators and no less time than another one."""
    sizes = [(c.accelerators, length(c, terms)) for c in run_options]
    return [
        c
        for c, (n, own) in zip(run_options, sizes, strict=True)
        if not any(m <= n and other <= own and (m, other) != (n, own) for m, other in sizes)
    ]


def quicker(run_options: list[RunOption], others: list[RunOption]) -> list[RunOption]:
    """Remove run options that need no fewer accelerators and no less time than another one.

    Parameters
    ----------
    run_options : list of RunOption
        Options with different sizes.
    others : list of RunOption
        Options that are kept in any case; they remove options, too.
    """
    sizes = [(x.accelerators, x.days) for x in (*others, *run_options)]
    return [
        x
        for x in run_options
        if not any(
            n <= x.accelerators and days <= x.days and (n, days) != (x.accelerators, x.days)
            for n, days in sizes
        )
    ]


def after(delays: Mapping[str, Bounds], days: float) -> dict[str, Bounds]:
    """Return the delays that remain after a number of reserved days."""
    left = {name: tuple(max(x - days, 0.0) for x in bounds) for name, bounds in delays.items()}
    return {name: (low, mid, high) for name, (low, mid, high) in left.items() if high > 0}


def quarter_starts(terms: JobTerms) -> range:
    """Return the months of starts a quarter apart, from the first one to the end of the time."""
    return range(terms.first_month, math.ceil(terms.end_day / DAYS_PER_MONTH), MONTHS_PER_QUARTER)


def starts(run_options: list[RunOption], terms: JobTerms) -> list[RunOption]:
    """Return every start month that ends in time: monthly for short runs, quarterly for long runs.

    If a hardware delay would make a run with a deadline late, its hardware must be in service one
    quarter earlier.
    """
    return [x.starting(*start) for x in run_options for start in start_months(x, terms)]


def start_months(config: RunOption, terms: JobTerms) -> tuple[tuple[int, int], ...]:
    """Return the start months of a run option that end in time, and the months of lead of each."""
    usual = config.finish_days if terms.dated else config.days
    least = min(usual, max(config.days, config.ahead_days))
    step = 1 if config.months < MONTHS_PER_QUARTER else MONTHS_PER_QUARTER
    return _start_months(usual, least, step, terms.first_month, terms.end_day)


@functools.lru_cache(maxsize=65536)
def _start_months(
    usual: float, least: float, step: int, first: int, end_day: float
) -> tuple[tuple[int, int], ...]:
    """Return the starts of a run that takes its usual days, and the least with earlier hardware."""
    result = []
    months = set(range(first, math.ceil(end_day / DAYS_PER_MONTH), step))
    months |= {math.floor((end_day - x) / DAYS_PER_MONTH + 1e-9) for x in (usual, least)}
    for month in sorted(m for m in months if m >= first):
        begin = month * DAYS_PER_MONTH
        if begin + usual <= end_day + 1e-9:
            result.append((month, 0))
        elif month >= MONTHS_PER_QUARTER and begin + least <= end_day + 1e-9:
            result.append((month, MONTHS_PER_QUARTER))
    return tuple(result)

"""Cluster sizing: the smallest cluster for a deadline, or the fastest within other limits."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dcplan.answers.train.clusters.unmet_limits import limits, none_meets
from dcplan.answers.train.estimate import train_model
from dcplan.answers.train.metrics import rated_kw, rent_usd_per_hour
from dcplan.answers.train.request import TrainRequest
from dcplan.answers.train.resolve import TrainRun, resolve
from dcplan.answers.train.schedule import run_at
from dcplan.catalog.loader import Catalog
from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.log import InputLog
from dcplan.inputs.storage import fed_step_s
from dcplan.llm.architecture import model_flops_per_token
from dcplan.llm.tables import Array
from dcplan.reliability.calendar import RunTime
from dcplan.result import Metric, Result
from dcplan.scenario.schema.jobs import DEADLINE_CONFIDENCE
from dcplan.specs.train import layouts as specs
from dcplan.specs.train.layouts import SizeRow
from dcplan.training.by_count.sweep import sweep
from dcplan.training.estimate import Sweep
from dcplan.units import HOURS_PER_DAY, KW_PER_MW, SECONDS_PER_DAY

LARGEST_SYSTEMS = 16384
GROWTH = 1.05
REFINED = 1.5
"""Counts down to the first answer divided by this factor are searched on the full grid."""
NEAR = 1.5
"""Sizes within this factor of the answer are listed with it."""
TOKENS_PER_PARAM = 20.0
"""Compute-optimal ratio (Hoffmann et al. 2022, arXiv 2203.15556, table 3, approaches 1 and 2)."""


@dataclass(frozen=True)
class _Sized:
    """One precision at every count."""

    run: TrainRun
    swept: Sweep
    ends: RunTime

    def days(self, confidence: float) -> Array:
        """Return the quantile of the duration at every count."""
        return np.asarray(self.ends.quantile_days(confidence))


def train_inverse(request: TrainRequest, catalog: Catalog) -> Result:
    """Size the cluster, then estimate the run on it.

    With a deadline, find the smallest cluster that meets it at 80 % confidence within the other
    limits; without one, find the fastest within the limits. Cost is rent; power is the rated IT
    power of the systems.

    Raises
    ------
    InputError
        When a budget is given but no price is known.
    """
    began = time.perf_counter()
    log = InputLog(catalog)
    runs = resolve(replace(request, accelerators=1), log)
    counts = _counts(runs[0])
    price = rent_usd_per_hour(log, runs[0])
    if request.budget_usd is not None and price is None:
        cause = f"no on-demand price for {runs[0].system.accelerator} in the catalog"
        raise InputError(
            [Problem("DC050", cause, Place("--budget-usd"), help="set --usd-per-accelerator-hour")]
        )
    found = [_swept(log, run, counts) for run in runs]
    rows = _rows(found, price)
    if not any(row.meets_target for row in rows):
        return none_meets(request, rows, counts, time.perf_counter() - began)
    first = _best(rows, request)
    found = [_refined(log, sized, first.accelerators) for sized in found]
    rows = _rows(found, price)
    best = _best(rows, request)
    chosen = replace(
        request,
        accelerators=best.accelerators,
        precision=(best.precision,),
        deadline_days=None,
        max_it_mw=None,
        budget_usd=None,
    )
    answer = train_model(chosen, catalog, _room_frac(best, request))
    near = (row for row in rows if _near(row, rows, best.accelerators))
    answer.tables[specs.SIZES.name] = specs.SIZES.table(near)
    answer.metrics |= _room(found, best)
    kind = "smallest" if request.deadline_days is not None else "fastest"
    answer.headline = f"{kind} cluster for {limits(request)}: {answer.headline}"
    return answer


def _swept(log: InputLog, run: TrainRun, counts: Array) -> _Sized:
    """Search all counts on the coarser grid."""
    swept = sweep(run.shape, run.seq_len, run.batch_tokens, run.spec, counts, images=run.images)
    return _on_calendar(log, run, replace(swept, step_time_s=fed_step_s(run.storage, swept, log)))


def _on_calendar(log: InputLog, run: TrainRun, swept: Sweep) -> _Sized:
    clean = run.tokens / swept.tokens_per_step * swept.step_time_s / SECONDS_PER_DAY
    return _Sized(run, swept, run_at(log, run, swept, clean))


def _refined(log: InputLog, sized: _Sized, count: int) -> _Sized:
    """Search all layouts near a count, which the first sweep covered with a coarser grid."""
    swept, run = sized.swept, sized.run
    at = np.flatnonzero(
        (swept.accelerators >= count / REFINED) & (swept.accelerators <= count * GROWTH)
    )
    near = sweep(
        run.shape,
        run.seq_len,
        run.batch_tokens,
        run.spec,
        swept.accelerators[at],
        images=run.images,
        coarse=False,
    )
    step, found = swept.step_time_s.copy(), fed_step_s(run.storage, near, log)
    better = found < step[at]
    step[at[better]] = found[better]
    layouts = {k: v.copy() for k, v in swept.layouts.items()}
    for name, column in layouts.items():
        column[at[better]] = near.layouts[name][better]
    return _on_calendar(log, run, replace(swept, step_time_s=step, layouts=layouts))


def _counts(run: TrainRun) -> Array:
    """Return accelerators of whole orders, first every one, then 5 % apart, up to the power limit."""
    most, limit_mw = LARGEST_SYSTEMS, run.request.max_it_mw
    unit, each_kw = run.order_accelerators, rated_kw(run.system)
    if limit_mw is not None:
        if each_kw is None:
            cause = f"{run.system.id} has no power figure in the catalog"
            raise InputError([Problem("DC010", cause, Place("--max-it-mw"))])
        unit_kw = each_kw * unit / run.system.accelerators
        most = int(limit_mw * KW_PER_MW / (unit_kw * run.request.power_limit_frac))
        if most < 1:
            what = "one" if unit == run.system.accelerators else f"{unit} accelerators of"
            cause = (
                f"{limit_mw:g} MW is less than the power of {what} {run.system.id} ({unit_kw:g} kW)"
            )
            raise InputError([Problem("DC050", cause, Place("--max-it-mw"))])
    systems, units = [], 1
    while units <= most:
        systems.append(units)
        units = max(units + 1, int(units * GROWTH))
    if limit_mw is not None and systems[-1] != most:
        systems.append(most)
    return np.array(systems, dtype=np.float64) * unit


def _rows(found: Sequence[_Sized], price: float | None) -> list[SizeRow]:
    """Return every size with a layout that fits, and whether it meets the limits."""
    rows = []
    for sized in found:
        run, counts = sized.run, sized.swept.accelerators
        p50, p80 = sized.days(0.5), sized.days(DEADLINE_CONFIDENCE)
        rated = rated_kw(run.system) or 0.0
        it_mw = counts / run.system.accelerators * rated * run.request.power_limit_frac / KW_PER_MW
        cost = counts * p50 * HOURS_PER_DAY * (price or 0.0)
        meets = _meets(run.request, p50, p80, cost)
        rows += [
            SizeRow(
                accelerators=int(counts[i]),
                precision=run.precision,
                days_p50=float(p50[i]),
                days_p80=float(p80[i]),
                it_mw=float(it_mw[i]),
                cost_usd=float(cost[i]) if price is not None else None,
                meets_target=bool(meets[i]),
            )
            for i in np.flatnonzero(np.isfinite(p50))
        ]
    return rows


def _meets(request: TrainRequest, p50: Array, p80: Array, cost: Array) -> Array:
    """Return which counts meet the deadline and the budget; the power limit bounds the counts."""
    meets = np.isfinite(p50)
    if request.deadline_days is not None:
        meets &= p80 <= request.deadline_days
    if request.budget_usd is not None:
        meets &= cost <= request.budget_usd
    return np.asarray(meets)


def _best(rows: Sequence[SizeRow], request: TrainRequest) -> SizeRow:
    """Return the smallest size that meets the limits, or the fastest without a deadline."""

    def rank(row: SizeRow) -> tuple[float, float]:
        if request.deadline_days is not None:
            return row.accelerators, row.days_p50
        return row.days_p50, row.accelerators

    return min((row for row in rows if row.meets_target), key=rank)


def _room_frac(row: SizeRow, request: TrainRequest) -> float | None:
    """Return the share by which the run may be slower and still meet the limits, None if any."""
    rooms = []
    if request.deadline_days is not None:
        rooms.append(request.deadline_days / row.days_p80 - 1.0)
    if request.budget_usd is not None and row.cost_usd:
        rooms.append(request.budget_usd / row.cost_usd - 1.0)
    return max(min(rooms), 0.0) if rooms else None


def _near(row: SizeRow, rows: Sequence[SizeRow], count: int) -> bool:
    """Whether a size is near the answer, or near the smallest sufficient one of its precision."""
    same = (r.accelerators for r in rows if r.precision == row.precision and r.meets_target)
    own = min(same, default=count)
    return any(c / NEAR <= row.accelerators <= c * NEAR for c in (count, own))


def _room(found: Sequence[_Sized], best: SizeRow) -> dict[str, Metric]:
    """Return the largest work within the deadline: more tokens, or the compute-optimal model."""
    sized = next(f for f in found if f.run.precision == best.precision)
    run, request = sized.run, sized.run.request
    metrics = specs.SYSTEMS(best.accelerators / run.system.accelerators)
    if request.deadline_days is None:
        return metrics
    i = int(np.argmin(np.abs(sized.swept.accelerators - best.accelerators)))
    tokens = run.tokens * (request.deadline_days / float(sized.days(DEADLINE_CONFIDENCE)[i]))
    flops = model_flops_per_token(run.shape, run.seq_len, run.images) * tokens
    params = (flops / (6.0 * TOKENS_PER_PARAM)) ** 0.5
    return {
        **metrics,
        **specs.LARGEST_TOKENS(tokens),
        **specs.LARGEST_PARAMS_B(params / 1e9),
        **specs.LARGEST_PARAMS_TOKENS(params * TOKENS_PER_PARAM),
    }

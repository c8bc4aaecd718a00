"""The inverse questions: the smallest cluster for a deadline, the fastest within a budget or a
power limit.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from dcplan.answers.train.estimate import train_model
from dcplan.answers.train.metrics import rent_usd_per_hour
from dcplan.answers.train.resolve import Ask, Asked, resolve
from dcplan.answers.train.schedule import fed, run_at
from dcplan.catalog.loader import Catalog
from dcplan.errors import EXIT_NO, InputError, Place, Problem
from dcplan.inputs.log import Ledger
from dcplan.llm.architecture import model_flops_per_token
from dcplan.reliability.calendar import RunTime
from dcplan.result import Metric, Result, Table
from dcplan.scenario.schema.work import DEADLINE_CONFIDENCE
from dcplan.training.estimate import Sweep, sweep
from dcplan.units import HOURS_PER_DAY, KW_PER_MW, SECONDS_PER_DAY

LARGEST_SYSTEMS = 16384
GROWTH = 1.05
REFINED = 1.5
"""Counts down to this share of the first answer are searched on the full grid."""
NEAR = 1.5
"""Sizes up to this factor from the answer are listed beside it."""
SHOWN = 5
"""Fastest sizes listed where none is good enough."""
TOKENS_PER_PARAM = 20.0
"""Compute-optimal ratio (Hoffmann et al. 2022, arXiv 2203.15556, table 3, approaches 1 and 2)."""


@dataclass(frozen=True)
class Limits:
    """What an answer must keep to; None is no limit."""

    deadline_days: float | None
    mw: float | None
    budget_usd: float | None


@dataclass(frozen=True)
class _Sized:
    asked: Asked
    swept: Sweep
    clean_days: np.ndarray[tuple[int], np.dtype[np.float64]]
    run: RunTime

    def days(self, confidence: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """Calendar days not exceeded with a probability, at every count."""
        return np.asarray(self.run.quantile_days(confidence))


def train_inverse(ask: Ask, limits: Limits, catalog: Catalog) -> Result:
    """Size the cluster, then estimate the run on it.

    With a deadline the smallest cluster that meets it at 80 % confidence and keeps the other
    limits; without one the fastest that keeps them. Money is rent; power is the rated IT power of
    the systems.

    Raises
    ------
    InputError
        When a budget is given and no price is known.
    """
    began = time.perf_counter()
    ledger = Ledger(catalog)
    asked = resolve(replace(ask, accelerators=1), catalog, ledger)
    unit = asked[0].system.accelerators
    counts = _counts(asked[0], limits)
    price = rent_usd_per_hour(catalog, ledger, asked[0])
    if limits.budget_usd is not None and price is None:
        cause = f"no on-demand price of {asked[0].system.accelerator} in the catalog"
        raise InputError(
            [Problem("DC050", cause, Place("--budget-usd"), help="give --usd-per-accelerator-hour")]
        )
    found = []
    for each in asked:
        swept = sweep(
            each.shape, each.seq_len, each.batch_tokens, each.spec, counts, images=each.images
        )
        swept = replace(swept, step_time_s=fed(ledger, each, swept))
        clean = each.tokens / swept.tokens_per_step * swept.step_time_s / SECONDS_PER_DAY
        found.append(_Sized(each, swept, clean, run_at(ledger, each, swept, clean)))
    rows, best = _choose(found, counts, limits, price)
    if best is not None:
        found = [_refined(ledger, f, best[0]) for f in found]
        rows, best = _choose(found, counts, limits, price)
    columns = ("accelerators", "precision", "p50_days", "p80_days", "it_mw", "cost_usd", "meets")
    if best is None:
        quickest = sorted(rows, key=lambda r: r[2])[:SHOWN]
        return _none(
            ask, limits, Table(columns, tuple(quickest)), counts, time.perf_counter() - began
        )
    count, precision = best
    table = Table(columns, tuple(r for r in rows if _near(r, rows, count)))
    answer = train_model(replace(ask, accelerators=count, precisions=(precision,)), catalog)
    answer.tables["sizes"] = table
    answer.metrics |= _room(found, count, precision, limits, unit)
    answer.headline = f"{_asked_for(limits)}: {answer.headline}"
    return answer


def _refined(ledger: Ledger, sized: _Sized, count: int) -> _Sized:
    """The same with all layouts searched near a count, where the first sweep took a coarser grid."""
    swept, asked = sized.swept, sized.asked
    at = np.flatnonzero(
        (swept.accelerators >= count / REFINED) & (swept.accelerators <= count * GROWTH)
    )
    near = sweep(
        asked.shape,
        asked.seq_len,
        asked.batch_tokens,
        asked.spec,
        swept.accelerators[at],
        images=asked.images,
        coarse=False,
    )
    step, found = swept.step_time_s.copy(), fed(ledger, asked, near)
    better = found < step[at]
    step[at[better]] = found[better]
    layouts = {k: v.copy() for k, v in swept.layouts.items()}
    for name, column in layouts.items():
        column[at[better]] = near.layouts[name][better]
    swept = replace(swept, step_time_s=step, layouts=layouts)
    clean = asked.tokens / swept.tokens_per_step * step / SECONDS_PER_DAY
    return _Sized(asked, swept, clean, run_at(ledger, asked, swept, clean))


def _counts(asked: Asked, limits: Limits) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Whole systems, every one at first and then 5 % apart, up to the power limit."""
    most = LARGEST_SYSTEMS
    rated = asked.system.rated_kw.value if asked.system.rated_kw else None
    if limits.mw is not None:
        if rated is None:
            cause = f"{asked.system.id} has no power figure in the catalog"
            raise InputError([Problem("DC010", cause, Place("--mw"))])
        most = int(limits.mw * KW_PER_MW / (rated * asked.power_frac))
        if most < 1:
            cause = f"{limits.mw:g} MW is less than one {asked.system.id} ({rated:g} kW)"
            raise InputError([Problem("DC050", cause, Place("--mw"))])
    systems, units = [], 1
    while units <= most:
        systems.append(units)
        units = max(units + 1, int(units * GROWTH))
    if limits.mw is not None and systems[-1] != most:
        systems.append(most)
    return np.array(systems, dtype=np.float64) * asked.system.accelerators


def _near(row: SizeRow, rows: list[SizeRow], count: int) -> bool:
    """Beside the answer, or beside the smallest size of the same precision that would do."""
    own = min((r[0] for r in rows if r[1] == row[1] and r[6]), default=count)
    return any(c / NEAR <= row[0] <= c * NEAR for c in (count, own))


SizeRow = tuple[int, str, float, float, float, float | None, bool]


def _choose(
    found: list[_Sized],
    counts: np.ndarray[tuple[int], np.dtype[np.float64]],
    limits: Limits,
    price: float | None,
) -> tuple[list[SizeRow], tuple[int, str] | None]:
    rows: list[SizeRow] = []
    best = None
    rank: tuple[float, float] | None = None
    for each in found:
        p50, p80 = each.days(0.5), each.days(DEADLINE_CONFIDENCE)
        system = each.asked.system
        rated = system.rated_kw.value if system.rated_kw else 0.0
        megawatts = counts / system.accelerators * rated * each.asked.power_frac / KW_PER_MW
        cost = counts * p50 * HOURS_PER_DAY * (price or 0.0)
        ok = np.isfinite(p50)
        if limits.deadline_days is not None:
            ok &= p80 <= limits.deadline_days
        if limits.budget_usd is not None:
            ok &= cost <= limits.budget_usd
        for i in np.flatnonzero(np.isfinite(p50)):
            usd = float(cost[i]) if price is not None else None
            size, name = int(counts[i]), each.asked.precision
            rows.append(
                (size, name, float(p50[i]), float(p80[i]), float(megawatts[i]), usd, bool(ok[i]))
            )
        for i in np.flatnonzero(ok):
            key = (
                (float(counts[i]), float(p50[i]))
                if limits.deadline_days
                else (float(p50[i]), float(counts[i]))
            )
            if rank is None or key < rank:
                rank, best = key, (int(counts[i]), each.asked.precision)
    return rows, best


def _room(
    found: list[_Sized], count: int, precision: str, limits: Limits, unit: int
) -> dict[str, Metric]:
    """What else fits into the deadline: tokens of this model, and the compute-optimal model."""
    each = next(f for f in found if f.asked.precision == precision)
    i = int(np.argmin(np.abs(each.swept.accelerators - count)))
    metrics = {"systems": Metric(count / unit, "", "Systems of the answer")}
    if limits.deadline_days is None:
        return metrics
    share = limits.deadline_days / float(each.days(DEADLINE_CONFIDENCE)[i])
    tokens = each.asked.tokens * share
    flops = model_flops_per_token(each.asked.shape, each.asked.seq_len, each.asked.images) * tokens
    params = (flops / (6.0 * TOKENS_PER_PARAM)) ** 0.5
    return metrics | {
        "largest.tokens": Metric(
            tokens, "", "Tokens of this model that end by the deadline on this cluster"
        ),
        "largest.params_b": Metric(
            params / 1e9,
            "",
            "Billion parameters of a dense model at 20 tokens a parameter, at the same FLOP/s",
        ),
        "largest.params_tokens": Metric(params * TOKENS_PER_PARAM, "", "Its tokens"),
    }


def _asked_for(limits: Limits) -> str:
    parts = []
    if limits.deadline_days is not None:
        parts.append(f"within {limits.deadline_days:g} days at {DEADLINE_CONFIDENCE:.0%}")
    if limits.mw is not None:
        parts.append(f"under {limits.mw:g} MW of IT")
    if limits.budget_usd is not None:
        parts.append(f"for {limits.budget_usd:,.0f} USD of rent")
    first = "smallest cluster" if limits.deadline_days is not None else "fastest cluster"
    return f"{first} {', '.join(parts)}"


def _none(
    ask: Ask,
    limits: Limits,
    table: Table,
    counts: np.ndarray[tuple[int], np.dtype[np.float64]],
    seconds: float,
) -> Result:
    cause = f"no cluster of up to {int(counts[-1]):,} accelerators keeps to it"
    if not table.rows:
        cause += f": {ask.model} does not fit their memory"
    else:
        rents = [row[5] for row in table.rows if isinstance(row[5], float)]
        cause += f"; the fastest takes {table.rows[0][3]:.3g} days (P80)"
        cause += f", the cheapest listed {min(rents):,.0f} USD" if rents else ""
    return Result(
        verb="train",
        status="infeasible",
        exit_code=EXIT_NO,
        headline=f"{_asked_for(limits)}: {cause}",
        tables={"sizes": table},
        run={"seconds": round(seconds, 4)},
    )

"""The same run on fewer accelerators: time, memory and cost of each size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dcplan.answers.train.resolve import TrainRun
from dcplan.answers.train.schedule import run_at
from dcplan.inputs.log import InputLog
from dcplan.inputs.storage import fed_step_s
from dcplan.llm.architecture import model_flops_per_token
from dcplan.result import Table
from dcplan.specs.train import layouts as specs
from dcplan.training.by_count.sweep import sweep
from dcplan.units import BYTES_PER_GIB, GIGA, HOURS_PER_DAY, SECONDS_PER_DAY, TERA

SHARES = (1.0, 0.75, 0.5, 0.375, 0.25, 0.125, 0.0625)


def smaller_clusters(
    log: InputLog, run: TrainRun, days: float, price: float | None
) -> Table | None:
    """Return the Pareto set over time, accelerators, memory margin and cost.

    Sizes are complete systems, or slices of a pod, down to a sixteenth. ``days`` is the median duration of the answer;
    its size is not listed again.
    """
    unit = run.order_accelerators
    counts = sorted({max(int(run.accelerators * s / unit), 1) * unit for s in SHARES})
    if run.spec.streams_weights or len(counts) < 2:
        return None
    table = np.array(counts, dtype=np.float64)
    swept = sweep(run.shape, run.seq_len, run.batch_tokens, run.spec, table, images=run.images)
    swept = replace(swept, step_time_s=fed_step_s(run.storage, swept, log))
    clean = run.tokens / swept.tokens_per_step * swept.step_time_s / SECONDS_PER_DAY
    fits = np.isfinite(clean)
    ends = run_at(log, run, swept, np.where(fits, clean, 1.0))
    p50 = np.where(fits, np.asarray(ends.p50_days), np.inf)
    flops = model_flops_per_token(run.shape, run.seq_len, run.images) * swept.tokens_per_step
    mfu = flops / swept.step_time_s / (table * run.spec.peak_tflops * TERA)
    limit_gib = run.spec.device.hbm_gb / run.spec.device.ranks
    rows: list[specs.SmallerClusterRow] = []
    quickest = days
    for i in reversed(range(table.size)):
        if counts[i] >= run.accelerators or not fits[i] or p50[i] < quickest:
            continue
        rows.append(
            specs.SmallerClusterRow(
                accelerators=counts[i],
                step_time_s=float(swept.step_time_s[i]),
                days_p50=float(p50[i]),
                mfu_frac=float(mfu[i]),
                memory_margin_gib=float(limit_gib - swept.memory_gb[i] * GIGA / BYTES_PER_GIB),
                cost_usd=None
                if price is None
                else float(table[i] * p50[i] * HOURS_PER_DAY * price),
            )
        )
        quickest = float(p50[i])
    return specs.SMALLER_CLUSTERS.table(rows) if rows else None

"""The same run on fewer accelerators: what time, memory and money each size takes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dcplan.answers.train.resolve import Asked
from dcplan.answers.train.schedule import fed, run_at
from dcplan.inputs.log import Ledger
from dcplan.llm.architecture import model_flops_per_token
from dcplan.result import Cell, Table
from dcplan.training.estimate import sweep
from dcplan.units import BYTES_PER_GIB, GIGA, HOURS_PER_DAY, SECONDS_PER_DAY, TERA

SHARES = (1.0, 0.75, 0.5, 0.375, 0.25, 0.125, 0.0625)


def fewer(ledger: Ledger, asked: Asked, days: float, price: float | None) -> Table | None:
    """Pareto set over time, accelerators, memory margin and cost: whole systems, down to a
    sixteenth.

    ``days`` is the median run time of the answer itself; its size is not listed again.
    """
    unit = asked.system.accelerators
    counts = sorted({max(int(asked.accelerators * s / unit), 1) * unit for s in SHARES})
    if asked.spec.streams_weights or len(counts) < 2:
        return None
    table = np.array(counts, dtype=np.float64)
    swept = sweep(
        asked.shape, asked.seq_len, asked.batch_tokens, asked.spec, table, images=asked.images
    )
    swept = replace(swept, step_time_s=fed(ledger, asked, swept))
    clean = asked.tokens / swept.tokens_per_step * swept.step_time_s / SECONDS_PER_DAY
    fits = np.isfinite(clean)
    run = run_at(ledger, asked, swept, np.where(fits, clean, 1.0))
    p50 = np.where(fits, np.asarray(run.p50_days), np.inf)
    flops = model_flops_per_token(asked.shape, asked.seq_len, asked.images) * swept.tokens_per_step
    mfu = flops / swept.step_time_s / (table * asked.spec.peak_tflops * TERA)
    limit = asked.spec.device.hbm_gb / asked.spec.device.ranks
    rows: list[tuple[Cell, ...]] = []
    quickest = days
    for i in reversed(range(table.size)):
        if counts[i] >= asked.accelerators or not fits[i] or p50[i] < quickest:
            continue
        usd = float(table[i] * p50[i] * HOURS_PER_DAY * price) if price is not None else None
        margin = limit - swept.memory_gb[i] * GIGA / BYTES_PER_GIB
        rows.append(
            (
                counts[i],
                float(swept.step_time_s[i]),
                float(p50[i]),
                float(mfu[i]),
                float(margin),
                usd,
            )
        )
        quickest = float(p50[i])
    columns = (
        "accelerators",
        "step_time_s",
        "p50_days",
        "mfu_frac",
        "memory_margin_gib",
        "cost_usd",
    )
    return Table(columns, tuple(rows)) if rows else None

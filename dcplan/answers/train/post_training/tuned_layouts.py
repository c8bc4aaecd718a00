"""Layouts of a fine-tuning run: all searched, or one given."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dcplan.answers.train.layouts.parser import lightest, read_layout
from dcplan.inputs.training.fine_tuning import Teaching, Tuned, tuned_step
from dcplan.training.grid import KEYS, Case, case_setup, layout_table
from dcplan.training.memory import memory
from dcplan.training.search import Found, fits_host, search
from dcplan.units import BYTES_PER_GIB

SEARCH_KEPT = 16
"""Fastest layouts without additions that are timed with them."""


def tuned_layouts(
    run: Tuned, ranks: int, layout: str | None, keep: int, teacher: Teaching | None = None
) -> tuple[Case, Found]:
    """Return the layouts of a run with the times of their whole step, fastest first.

    ``feasible`` is 0 if none fits in memory. The case is that of the layouts, with the sequence
    parallelism of a given one.

    Raises
    ------
    InputError
        When the given layout is not possible.
    """
    if layout:
        limit = run.case.device.hbm_gb / run.case.device.ranks * BYTES_PER_GIB
        typed = lightest(read_layout(layout, run.case, ranks), limit)
        setup = case_setup(typed.case, layout_table(typed.case, typed.columns))
        needed = memory(setup).total
        if needed[0] > limit or not fits_host(typed.case, setup).all():
            none = np.empty(0)
            return typed.case, Found({}, none, none, 1, 0, float(needed[0]))
        done = tuned_step(run, setup, teacher)
        return typed.case, Found(typed.columns, done.time_s, needed, 1, 1)
    found = search(run.case, ranks, keep=max(keep, SEARCH_KEPT))
    if not found.step_time_s.size:
        return run.case, found
    setup = case_setup(run.case, layout_table(run.case, found.layouts))
    whole = np.broadcast_to(tuned_step(run, setup, teacher).time_s, found.step_time_s.shape)
    order = np.argsort(whole, kind="stable")
    return run.case, replace(
        found,
        layouts={k: found.layouts[k][order] for k in KEYS},
        step_time_s=whole[order],
        memory_bytes=found.memory_bytes[order],
    )

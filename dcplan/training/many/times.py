"""Exact step time and memory of layouts of many problems."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dcplan.llm.operations import Setup
from dcplan.llm.tables import Array, rows
from dcplan.training.grid import layout_table
from dcplan.training.many.group import Group, Mask
from dcplan.training.many.layouts import Rows, Timed, columns_of
from dcplan.training.memory import host_bytes, memory
from dcplan.training.step import assemble

SEARCH_ROWS = 4096
"""Layouts computed at a time."""


def timed_all(group: Group, found: Rows) -> tuple[Array, Array]:
    """Return step time and memory of layouts; the time is infinite where one does not fit."""
    time, needed = np.full(found.dp.size, np.inf), np.zeros(found.dp.size)
    for at in np.array_split(np.arange(found.dp.size), found.dp.size // SEARCH_ROWS + 1):
        setup, fits, needed[at] = _fitting(group, found.take(at))
        here = at[fits]
        if here.size:
            if here.size < at.size:
                fitting = rows(setup.layout, fits), rows(setup.device, fits)
                setup = replace(setup, layout=fitting[0], device=fitting[1])
            time[here] = assemble(setup, rows(group.one, found.one[here])).time_s
    return time, needed


def timed(group: Group, found: Rows) -> Timed:
    """Return the layouts that fit, with their times."""
    time, needed = timed_all(group, found)
    at = np.flatnonzero(np.isfinite(time))
    return Timed(found.take(at), time[at], needed[at])


def _fitting(group: Group, found: Rows) -> tuple[Setup, Mask, Array]:
    """Return the setup of layouts, whether each fits in memory, and its memory."""
    device = group.device_of(found.one)
    layout = layout_table(group.cases[0], columns_of(group, found))
    setup = replace(group.setup, layout=layout, device=rows(group.setup.device, device))
    kept = rows(group.kept, group.inner_of(found.one))
    needed = memory(setup, kept).total
    fits = needed <= group.usable[device]
    if np.any(layout.offload > 0):
        fits &= host_bytes(setup, kept) <= group.host[device]
    return setup, np.asarray(fits), needed

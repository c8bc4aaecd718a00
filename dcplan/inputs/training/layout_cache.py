"""Cache of layout searches, within one process and between processes."""

from __future__ import annotations

import functools

import numpy as np

from dcplan.cache import Shelf, stored
from dcplan.llm.architecture import Architecture
from dcplan.training.estimate import Hardware, Sweep, sweep

MOST = 1024
"""Searches that one process remembers."""
SEARCHES = Shelf("layouts", 4096)
"""Searches of earlier processes, some 25 kB each."""


@functools.lru_cache(maxsize=MOST)
def searched(
    shape: Architecture,
    seq_len: int,
    global_batch_tokens: float,
    hardware: Hardware,
    accelerators: tuple[float, ...],
    wanted_s: tuple[float, ...] = (),
    images: float = 0.0,
) -> Sweep:
    """Cache :func:`dcplan.training.estimate.sweep`; its arrays are shared and read-only.

    The arguments are numbers, texts and tuples of them, so their text is exact and names the search.
    """
    asked = (shape, seq_len, global_batch_tokens, hardware, accelerators, wanted_s, images)

    def search() -> Sweep:
        counts = np.array(accelerators, dtype=np.float64)
        return sweep(shape, seq_len, global_batch_tokens, hardware, counts, wanted_s, images)

    found = stored(SEARCHES, repr(asked), search)
    for array in (
        found.accelerators,
        found.used,
        found.step_time_s,
        found.memory_gb,
        found.feasible,
        *found.layouts.values(),
        *found.parts_s.values(),
    ):
        array.flags.writeable = False
    return found

"""Cache of layout searches, within one process and between processes.

The code of a search is imported only where the cache does not have its result.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from dcplan.cache import Shelf, stored, stored_all
from dcplan.llm.architecture import Architecture
from dcplan.training.estimate import Hardware, Sweep
from dcplan.training.many.requests import Request

MOST = 1024
"""Searches that one process remembers."""
SEARCHES = Shelf("layouts", 4096)
"""Searches of earlier processes, some 25 kB each."""
_MENUS: dict[Request, Sweep] = {}
"""Searches of this process that were made together."""


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
    """Cache :func:`dcplan.training.by_count.sweep.sweep`; its arrays are shared and read-only.

    The arguments are numbers, texts and tuples of them, so their text is exact and names the search.
    """
    asked = (shape, seq_len, global_batch_tokens, hardware, accelerators, wanted_s, images)

    def search() -> Sweep:
        from dcplan.training.by_count.sweep import sweep

        counts = np.array(accelerators, dtype=np.float64)
        return sweep(shape, seq_len, global_batch_tokens, hardware, counts, wanted_s, images)

    return _shared(stored(SEARCHES, repr(asked), search))


def searched_all(requests: Sequence[Request]) -> list[Sweep]:
    """Cache :func:`dcplan.training.many.sweeps.sweeps`; its arrays are shared and read-only."""
    left = [r for r in dict.fromkeys(requests) if r not in _MENUS]
    if len(_MENUS) + len(left) > MOST:
        _MENUS.clear()
        left = list(dict.fromkeys(requests))

    def search(at: list[int]) -> list[Sweep]:
        from dcplan.training.many.sweeps import sweeps

        return sweeps([left[i] for i in at])

    found = stored_all(SEARCHES, [repr(r) for r in left], search)
    _MENUS.update(zip(left, map(_shared, found), strict=True))
    return [_MENUS[r] for r in requests]


def refined_all(
    requests: Sequence[Request], found: Sequence[Sweep], counts: Sequence[tuple[float, ...]]
) -> list[Sweep]:
    """Cache :func:`dcplan.training.many.refined.refined`."""

    def search(at: list[int]) -> list[Sweep]:
        from dcplan.training.many.refined import refined

        parts = ([every[i] for i in at] for every in (requests, found, counts))
        return refined(*parts)  # type: ignore[arg-type]

    asked = [f"{r!r} {n}" for r, n in zip(requests, counts, strict=True)]
    return [_shared(x) for x in stored_all(SEARCHES, asked, search)]


def _shared(found: Sweep) -> Sweep:
    """Return a sweep whose arrays are read-only."""
    for array in (
        found.accelerators,
        found.used,
        found.step_time_s,
        found.memory_gb,
        found.feasible,
        *(x for x in (found.searched,) if x is not None),
        *found.layouts.values(),
        *found.parts_s.values(),
    ):
        array.flags.writeable = False
    return found

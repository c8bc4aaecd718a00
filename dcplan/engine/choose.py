"""Choice of the engine that a request names."""

from __future__ import annotations

import importlib.util
import os

from dcplan.engine.engines import Engine, Processes, Serial
from dcplan.engine.names import EngineName
from dcplan.errors import InputError, Place, Problem


def engine_of(name: str, jobs: int | None, scheduler: str | None, solves: int) -> Engine:
    """Return the requested engine, with at most as many processes as solves.

    Raises
    ------
    InputError
        When flags contradict each other, or Dask is not installed.
    """
    if scheduler is not None and name != EngineName.DASK:
        raise InputError(
            [Problem("DC050", "--scheduler needs --engine dask", Place("--scheduler"))]
        )
    count = min(jobs or _cores(), max(solves, 1))
    if name == EngineName.DASK:
        if importlib.util.find_spec("distributed") is None:
            help_text = "pip install 'dcplan[dask]'"
            raise InputError(
                [Problem("DC050", "Dask is not installed", Place("--engine"), help=help_text)]
            )
        from dcplan.engine.dask_cluster import Dask  # takes half a second to import

        return Dask(scheduler, count)
    return Serial() if name == EngineName.SERIAL or count == 1 else Processes(count)


def _cores() -> int:
    """Return the number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

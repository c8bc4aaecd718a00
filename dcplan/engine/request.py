"""Flags of the engine, identical for every verb that runs many solves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from dcplan.engine.names import EngineName
from dcplan.specs.request import Flag

if TYPE_CHECKING:
    from dcplan.engine.engines import Engine


@dataclass(frozen=True)
class Workers:
    """The engine of the solves; the results do not depend on it."""

    engine: Annotated[EngineName, Flag("serial, processes or dask")] = EngineName.PROCESSES
    jobs: Annotated[int | None, Flag("parallel processes (default: all cores)", low=1)] = None
    scheduler: Annotated[
        str | None,
        Flag("address of a Dask scheduler (default: a local cluster)", metavar="ADDRESS"),
    ] = None

    def of(self, solves: int) -> Engine:
        """Return the engine for this many solves.

        Raises
        ------
        InputError
            When flags contradict each other, or Dask is not installed.
        """
        from dcplan.engine.choose import engine_of  # multiprocessing takes long to import

        return engine_of(self.engine, self.jobs, self.scheduler, solves)

"""What runs the solves of a study, as every verb that solves many takes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from dcplan.specs.request import Flag
from dcplan.study.engine.names import EngineName

if TYPE_CHECKING:
    from dcplan.study.engine.engines import Engine


@dataclass(frozen=True)
class Workers:
    """What runs the solves; what they find does not depend on it."""

    engine: Annotated[EngineName, Flag("serial, processes or dask")] = EngineName.PROCESSES
    jobs: Annotated[int | None, Flag("processes at once; left out: every core", low=1)] = None
    scheduler: Annotated[
        str | None, Flag("of a Dask cluster; left out: one of this machine", metavar="ADDRESS")
    ] = None

    def of(self, solves: int) -> Engine:
        """Return the engine for this many solves.

        Raises
        ------
        InputError
            When flags contradict each other, or Dask is not installed.
        """
        from dcplan.study.engine.choose import engine_of  # multiprocessing takes long to import

        return engine_of(self.engine, self.jobs, self.scheduler, solves)

"""What solves many scenarios at once: flags that every such verb takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from dcplan.cli.sweep import EngineName
from dcplan.specs.request import Flag

if TYPE_CHECKING:
    from dcplan.study.engine.engines import Engine


@dataclass(frozen=True)
class Workers:
    """Where solves run, and how many at once."""

    engine: Annotated[EngineName, Flag("serial, processes or dask")] = EngineName.PROCESSES
    jobs: Annotated[int | None, Flag("processes at once; left out: every core", low=1)] = None
    scheduler: Annotated[
        str | None, Flag("of a Dask cluster; left out: one of this machine", metavar="ADDRESS")
    ] = None

    def of(self, solves: int) -> Engine:
        """Return the engine for this many solves."""
        from dcplan.cli.sweep import engine_of

        return engine_of(self.engine, self.jobs, self.scheduler, solves)

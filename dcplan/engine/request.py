"""Flags of the engine, identical for every verb that runs many solves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from dcplan.engine.names import EngineName
from dcplan.errors import InputError, Place, Problem
from dcplan.specs.request import Flag

if TYPE_CHECKING:
    from dcplan.engine.engines import Engine

Scheduler = Annotated[
    str | None, Flag("address of a Dask scheduler (default: a local cluster)", metavar="ADDRESS")
]


@dataclass(frozen=True)
class Workers:
    """The engine of the solves; the results do not depend on it."""

    engine: Annotated[EngineName, Flag("serial, processes or dask")] = EngineName.PROCESSES
    jobs: Annotated[int | None, Flag("parallel processes (default: all cores)", low=1)] = None
    scheduler: Scheduler = None

    def of(self, solves: int) -> Engine:
        """Return the engine for this many solves.

        Raises
        ------
        InputError
            When flags contradict each other, or Dask is not installed.
        """
        from dcplan.engine.choose import engine_of  # multiprocessing takes long to import

        return engine_of(self.engine, self.jobs, self.scheduler, solves)


@dataclass(frozen=True)
class Team:
    """Several searches of one problem at the same time.

    Parameters
    ----------
    engine : Engine
        Runs the searches.
    searches : int
        Number of searches, at least 1.
    """

    engine: Engine
    searches: int


@dataclass(frozen=True)
class Searches:
    """Searches of one plan at the same time, and where they run."""

    searches: Annotated[
        int, Flag("searches of the plan at the same time; the best plan and bound count", low=1)
    ] = 1
    engine: Annotated[
        str | None,
        Flag(
            "where several searches run (default: processes)",
            choices=(EngineName.PROCESSES, EngineName.DASK),
        ),
    ] = None
    scheduler: Scheduler = None

    def team(self) -> Team | None:
        """Return the engine and the number of searches; None for one search in this process.

        Raises
        ------
        InputError
            When flags contradict each other, or Dask is not installed.
        """
        if self == Searches():
            return None
        if self.searches == 1 and self.engine == EngineName.PROCESSES:
            raise InputError(
                [
                    Problem(
                        "DC015",
                        "--engine processes has no effect on one search",
                        Place("--engine"),
                        help="add --searches 2, or omit --engine",
                    )
                ]
            )
        from dcplan.engine.choose import engine_of  # multiprocessing takes long to import

        name = self.engine or EngineName.PROCESSES
        engine = engine_of(name, self.searches, self.scheduler, self.searches)
        alone = self.searches == 1 and name == EngineName.PROCESSES
        return None if alone else Team(engine, self.searches)

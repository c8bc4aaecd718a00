"""Request of ``dcplan sweep``: the scenario, the points, and which of them to solve."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from dcplan.errors import InputError, Place, Problem
from dcplan.scenario.ref import ScenarioRef
from dcplan.specs.request import Flag

METHODS: dict[str, Literal["latin-hypercube", "sobol"]] = {
    "lhs": "latin-hypercube",
    "sobol": "sobol",
}
"""Name of a sampling method -> its name in the economics room."""
MOST_POINTS = 100_000
PROVE = ("auto", "all", "shown")
PROVED_ALL = 20
"""Points up to which ``auto`` proves all of them."""
SHARD = re.compile(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})")


@dataclass(frozen=True)
class Shard:
    """The part of the chains that one call solves; the number counts from 1."""

    number: int = 1
    of: int = 1

    def has(self, chain: int) -> bool:
        """Whether this part has a chain."""
        return chain % self.of == self.number - 1


@dataclass(frozen=True)
class SweepRequest(ScenarioRef):
    """A sweep: many points of one scenario."""

    paired: Annotated[
        bool, Flag("pair the values of the axes instead of every combination", names=("--zip",))
    ] = False
    sample: Annotated[
        int | None, Flag("number of sampled points", low=1, high=MOST_POINTS, metavar="N")
    ] = None
    seed: Annotated[int, Flag("random seed for --sample", low=0)] = 1
    method: Annotated[str, Flag("sampling method for --sample", choices=tuple(METHODS))] = "lhs"
    bounds: Annotated[
        bool,
        Flag("re-solve at the low and high of each input; with --sample, vary all inputs together"),
    ] = False
    gap: Annotated[float, Flag("relative gap at which each solve may stop", low=0)] = 0.005
    prove: Annotated[
        str,
        Flag(
            "points to prove to --gap: all, or shown (ends, lowest cost, changes of decisions); the "
            "others are screened, with their gap printed. auto: all of up to 20 points, else shown",
            choices=PROVE,
        ),
    ] = "auto"
    time_limit_s: Annotated[
        float, Flag("time limit of each point", unit="s", low=0.1, names=("--time-limit",))
    ] = 120.0
    part: Annotated[
        str | None,
        Flag("solve only part I of N, for job arrays", names=("--shard",), metavar="I/N"),
    ] = None
    store: Annotated[
        Path | None, Flag("folder of the stored points (default: .dcplan/points)", metavar="DIR")
    ] = None
    report_only: Annotated[bool, Flag("solve nothing, report the stored points")] = False
    retry_failed: Annotated[bool, Flag("solve failed points again")] = False
    no_cache: Annotated[bool, Flag("ignore stored points and solve everything again")] = False
    dry_run: Annotated[bool, Flag("list the points, solve nothing")] = False

    @property
    def shard(self) -> Shard:
        """The part of the chains that this call solves.

        Raises
        ------
        InputError
            When its text is not ``I/N``.
        """
        if self.part is None:
            return Shard()
        found = SHARD.fullmatch(self.part)
        if found is None or int(found[1]) > int(found[2]):
            cause = f"{self.part}: expected I/N with I from 1 to N"
            raise InputError([Problem("DC050", cause, Place("--shard"), help="--shard 1/4")])
        return Shard(int(found[1]), int(found[2]))

    def screens(self, points: int) -> bool:
        """Whether points are screened first, and only some are proved."""
        return self.prove == "shown" or (self.prove == "auto" and points > PROVED_ALL)


def refuse_conflicts(request: SweepRequest) -> None:
    """Refuse flags that contradict each other.

    Raises
    ------
    InputError
        With the first such flag.
    """
    _ = request.shard
    if request.report_only and request.no_cache:
        cause = "--no-cache ignores the stored points that --report-only needs"
        raise InputError([Problem("DC050", cause, Place("--no-cache"))])
    if request.store is not None and request.store.exists() and not request.store.is_dir():
        raise InputError([Problem("DC006", "not a folder", Place(str(request.store)))])
    if request.paired and (request.bounds or request.sample is not None):
        cause = "--zip pairs lists, but --sample and --bounds make their own points"
        raise InputError([Problem("DC051", cause, Place("--zip"))])

"""Request of ``dcplan frontier``: the scenario, the two metrics and the number of points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.scenario.ref import ScenarioRef
from dcplan.specs.request import Flag

MOST_POINTS = 200
ENDS, ALL = "ends", "all"
PROVE = (ENDS, ALL)


@dataclass(frozen=True)
class FrontierRequest(ScenarioRef):
    """One metric against another; replaces the objective of the scenario."""

    x: Annotated[str, Flag("metric that every point minimizes", metavar="METRIC")] = "cost.npv_usd"
    y: Annotated[
        str | None, Flag("metric that is limited from point to point", metavar="METRIC")
    ] = None
    points: Annotated[
        int, Flag("number of points, including both ends", low=2, high=MOST_POINTS)
    ] = 15
    gap: Annotated[float, Flag("relative gap at which each solve may stop", low=0)] = 0.01
    prove: Annotated[
        str,
        Flag(
            "points to prove to --gap: ends, or all; the points between proved ends are screened, "
            "with their gap printed",
            choices=PROVE,
        ),
    ] = ENDS
    time_limit_s: Annotated[
        float,
        Flag(
            "time limit of all points together on one core",
            unit="s",
            low=1,
            names=("--time-limit",),
        ),
    ] = 600.0
    no_cache: Annotated[bool, Flag("ignore stored points and solve again")] = False

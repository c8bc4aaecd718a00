"""What ``dcplan frontier`` is asked: which scenario, which two metrics, how many points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.scenario.ref import ScenarioRef
from dcplan.specs.request import Flag

MOST_POINTS = 200


@dataclass(frozen=True)
class FrontierRequest(ScenarioRef):
    """One metric against another; the objective of the scenario is not used."""

    x: Annotated[str, Flag("what every point minimises", metavar="METRIC")] = "cost.npv_usd"
    y: Annotated[str | None, Flag("what is limited from point to point", metavar="METRIC")] = None
    points: Annotated[int, Flag("points, both ends among them", low=2, high=MOST_POINTS)] = 15
    gap: Annotated[float, Flag("relative gap at which each solve may stop", low=0)] = 0.01
    time_limit_s: Annotated[
        float,
        Flag("time of all points together on one core", unit="s", low=1, names=("--time-limit",)),
    ] = 600.0
    no_cache: Annotated[bool, Flag("solve again what is known")] = False

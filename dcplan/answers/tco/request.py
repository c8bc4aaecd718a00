"""Request of ``dcplan tco``: the scenario and the limits of its solves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.scenario.ref import ScenarioRef
from dcplan.specs.request import Flag


@dataclass(frozen=True)
class TcoRequest(ScenarioRef):
    """A scenario with a fleet to compare, or with work to plan as owned, rented and both."""

    gap: Annotated[
        float, Flag("relative gap of each plan, in a scenario without a fleet", low=0)
    ] = 0.01
    time_limit_s: Annotated[
        float, Flag("time limit of all plans together", unit="s", low=1, names=("--time-limit",))
    ] = 300.0

"""What ``dcplan tco`` is asked: which scenario, and how far to solve its plans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.scenario.ref import ScenarioRef
from dcplan.specs.request import Flag


@dataclass(frozen=True)
class TcoRequest(ScenarioRef):
    """A scenario with a fleet to compare, or with work to plan owned, rented and both."""

    gap: Annotated[float, Flag("of each plan, where there is no fleet", low=0)] = 0.01
    time_limit_s: Annotated[
        float, Flag("time of all plans together", unit="s", low=1, names=("--time-limit",))
    ] = 300.0

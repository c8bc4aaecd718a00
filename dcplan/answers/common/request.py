"""Common request of verbs that solve a scenario: the scenario, the solver limits, the stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from dcplan.scenario.ref import ScenarioRef
from dcplan.specs.request import Flag


@dataclass(frozen=True)
class ScenarioRequest(ScenarioRef):
    """A scenario and the limits of its solve."""

    gap: Annotated[float, Flag("relative gap at which the solver may stop", low=0)] = 0.005
    time_limit_s: Annotated[
        float, Flag("time limit of the solver", unit="s", low=0.1, names=("--time-limit",))
    ] = 120.0
    stop: Annotated[
        Callable[[], bool] | None,
        Flag("callback that returns whether to stop now", python_only=True),
    ] = None

    @property
    def stopped(self) -> bool:
        """Whether the user wants to stop now."""
        return self.stop is not None and self.stop()

"""What every verb that solves a scenario is asked: which one, how far to solve, when to end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from dcplan.scenario.ref import ScenarioRef
from dcplan.specs.request import Flag


@dataclass(frozen=True)
class ScenarioRequest(ScenarioRef):
    """A scenario, and how far to solve it."""

    gap: Annotated[float, Flag("relative gap at which the solver may stop", low=0)] = 0.005
    time_limit_s: Annotated[
        float, Flag("time of solving", unit="s", low=0.1, names=("--time-limit",))
    ] = 120.0
    stop: Annotated[
        Callable[[], bool] | None, Flag("called to ask whether to end now", python_only=True)
    ] = None

    @property
    def stopped(self) -> bool:
        """Whether the user wants to end now."""
        return self.stop is not None and self.stop()

"""What ``dcplan explain`` is asked of a scenario."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.answers.common.request import ScenarioRequest
from dcplan.specs.request import Flag


@dataclass(frozen=True)
class ExplainRequest(ScenarioRequest):
    """Why a scenario has the plan that it has, or none."""

    scenario: Annotated[
        str,
        Flag(
            "scenario file or packaged example; or a field, a metric, a column or an error code",
            metavar="FILE|NAME",
            complete="explainable",
            argument=True,
        ),
    ]
    time_limit_s: Annotated[
        float, Flag("time of all solves", unit="s", low=1, names=("--time-limit",))
    ] = 300.0
    why_not: Annotated[
        tuple[str, ...], Flag("what buying one rack of it would cost", metavar="SYSTEM")
    ] = ()
    what_if: Annotated[
        tuple[str, ...], Flag("the plan with a changed input; repeatable", metavar="K=V")
    ] = ()
    switching_values: Annotated[
        bool, Flag("which value of each uncertain input would change a decision")
    ] = False
    switching_value_of: Annotated[
        tuple[str, ...], Flag("the same for one input; repeatable", metavar="KEY")
    ] = ()
    resolve_limits: Annotated[
        int | None, Flag("binding limits whose next unit is re-solved (4, or none)", low=0)
    ] = None

    @property
    def asks_more(self) -> bool:
        """Whether a question is asked besides which limits bind."""
        return bool(
            self.why_not or self.what_if or self.switching_values or self.switching_value_of
        )

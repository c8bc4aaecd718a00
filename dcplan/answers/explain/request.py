"""Request of ``dcplan explain`` for a scenario."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.answers.common.request import ScenarioRequest
from dcplan.planning.solve.status import Progress
from dcplan.specs.request import CHANGE, Flag


@dataclass(frozen=True)
class ExplainRequest(ScenarioRequest):
    """A scenario whose plan, or lack of a plan, is to be explained."""

    scenario: Annotated[
        str,
        Flag(
            "scenario file or packaged example; or a field, metric, column or error code",
            metavar="FILE|NAME",
            complete="explainable",
            argument=True,
        ),
    ]
    time_limit_s: Annotated[
        float, Flag("time limit of all solves together", unit="s", low=1, names=("--time-limit",))
    ] = 300.0
    progress: Annotated[
        Progress | None,
        Flag("callback of each phase, plan and bound of the searches", python_only=True),
    ] = None
    why_not: Annotated[
        tuple[str, ...],
        Flag("cost of buying one rack of this system; repeatable", metavar="SYSTEM"),
    ] = ()
    what_if: Annotated[
        tuple[str, ...],
        Flag("plan again with changed inputs, all in one plan; repeatable", metavar=CHANGE),
    ] = ()
    switching_values: Annotated[
        bool, Flag("value of each uncertain input that changes a decision")
    ] = False
    switching_value_of: Annotated[
        tuple[str, ...], Flag("switching value of one input; repeatable", metavar="KEY")
    ] = ()
    resolve_limits: Annotated[
        int | None,
        Flag(
            "number of binding limits to re-solve with one more unit (default: 4; with other "
            "questions: 0)",
            low=0,
        ),
    ] = None

    @property
    def asks_more(self) -> bool:
        """Whether the request has more questions than the binding limits."""
        return bool(
            self.why_not or self.what_if or self.switching_values or self.switching_value_of
        )

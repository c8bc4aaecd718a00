"""``dcplan train``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.answers.train.request import TrainRequest
from dcplan.cli.command import Output, command

if TYPE_CHECKING:
    from dcplan.result import Result


@command
def train(request: TrainRequest, output: Output) -> Result:
    """Time, memory and energy of training a model; of a scenario, all ways to run its jobs."""
    from dcplan.answers.train.answer import train as answer

    return answer(request)

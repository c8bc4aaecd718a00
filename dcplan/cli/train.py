"""``dcplan train``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.answers.train.request import TrainRequest
from dcplan.cli.command import Output, command

if TYPE_CHECKING:
    from dcplan.result import Result


@command
def train(request: TrainRequest, output: Output) -> Result:
    """Estimate time, memory, energy and cost of training a model."""
    from dcplan.answers.train.answer import train as answer

    return answer(request)

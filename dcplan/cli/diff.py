"""``dcplan diff``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcplan.answers.diff.request import SIDES, DiffRequest
from dcplan.cli.command import Output, command
from dcplan.engine.request import Workers

if TYPE_CHECKING:
    from dcplan.result import Result


@command
def diff(request: DiffRequest, workers: Workers, output: Output) -> Result:
    """Compare two results or scenarios: inputs, decisions and figures."""
    from dcplan.study.regression.diff import diff as answer
    from dcplan.study.store import home

    output.refuse_unwritable()
    return answer(request, home(), workers.of(SIDES))

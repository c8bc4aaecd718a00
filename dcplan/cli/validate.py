"""``dcplan validate``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcplan.answers.validation.request import ValidateRequest
from dcplan.cli.command import Output, command
from dcplan.cli.options import Format

if TYPE_CHECKING:
    from dcplan.result import Result


@command
def validate(request: ValidateRequest, output: Output) -> Result:
    """Compare predictions with published measurements and print the errors."""
    from dcplan.answers.validation.answer import validate as answer

    result = answer(request)
    if output.fmt is not Format.CSV:
        return result
    # a CSV holds one table: the runs, the figures, the measured rows or the prices
    first = next(
        name
        for name in (
            "whole_runs",
            "runs",
            "figures",
            "serving_figures",
            "prices",
            "post_training_runs",
        )
        if name in result.tables
    )
    return replace(result, metrics={}, tables={first: result.tables[first]})

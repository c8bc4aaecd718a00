"""``dcplan validate``: what others measured or published against what dcplan answers."""

from __future__ import annotations

from dcplan.answers.validation.measured_runs import predicted_runs
from dcplan.answers.validation.request import TRAINING, ValidateRequest, conflicts
from dcplan.errors import InputError
from dcplan.result import Result
from dcplan.specs.request import verb


@verb(ValidateRequest, "validate")
def validate(request: ValidateRequest) -> Result:
    """Predict every measured run, or ask every published question, and compare.

    Raises
    ------
    InputError
        When a file cannot be read or lacks a column, or a published row asks for a figure that the
        answer does not have.
    """
    problems = conflicts(request)
    if problems:
        raise InputError(problems)
    if request.subject == TRAINING:
        return predicted_runs(request)
    # figures are of any verb, all of which it imports
    from dcplan.answers.validation.published import published

    return published(request)

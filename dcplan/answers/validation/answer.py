"""``dcplan validate``: measured runs and published figures compared with answers of dcplan."""

from __future__ import annotations

from dcplan.answers.validation.request import (
    POST_TRAINING,
    PRICES,
    SERVING,
    TRAINING,
    ValidateRequest,
    conflicts,
)
from dcplan.answers.validation.runs.measured import predicted_runs
from dcplan.errors import InputError
from dcplan.result import Result
from dcplan.specs.verb import verb


@verb(ValidateRequest, "validate")
def validate(request: ValidateRequest) -> Result:
    """Predict every measured run, or answer every published question, and compare.

    Raises
    ------
    InputError
        When a file cannot be read or lacks a column, or the answer lacks a figure of a published
        row.
    """
    problems = conflicts(request)
    if problems:
        raise InputError(problems)
    if request.subject == TRAINING:
        return predicted_runs(request)
    if request.subject == SERVING:
        from dcplan.answers.validation.measured_serving import predicted_serving

        return predicted_serving(request)
    if request.subject == POST_TRAINING:
        from dcplan.answers.validation.post_training.answer import predicted_post_training

        return predicted_post_training(request)
    if request.subject == PRICES:
        from dcplan.answers.validation.price_performance import predicted_prices

        return predicted_prices(request)
    # published figures may need any verb, so this module imports all verbs
    from dcplan.answers.validation.published import published

    return published(request)

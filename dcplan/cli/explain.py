"""``dcplan explain``."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dcplan.answers.explain.request import ExplainRequest
from dcplan.cli.command import Output, Stop, command
from dcplan.specs.request import Flag

if TYPE_CHECKING:
    from dcplan.result import Result


@dataclass(frozen=True)
class Value:
    """One value of a scenario."""

    key: Annotated[
        str | None,
        Flag("value of the scenario; explains its origin", metavar="[KEY]", argument=True),
    ] = None


@command
def explain(request: ExplainRequest, value: Value, stop: Stop, output: Output) -> Result:
    """Explain a plan: binding limits, the value of relaxing them, why not X.

    With NAME, explain a field, metric, column, error code or term, such as PUE.
    """
    output.refuse_unwritable()
    _refuse_result(request.scenario)
    if value.key is not None:
        from dcplan.answers.reference.names import value_of

        return value_of(request, value.key)
    if _is_name(request.scenario):
        from dcplan.answers.reference.names import documented

        return documented(request.scenario)
    from dcplan.answers.explain.answer import explain as answer
    from dcplan.report.progress import SolveProgress

    name = Path(request.scenario).name
    with (
        SolveProgress.of(f"Explaining {name}", request, color=not output.no_color)
        if output.shows_progress
        else nullcontext() as bar
    ):
        return answer(replace(request, stop=stop, progress=bar))


def _refuse_result(word: str) -> None:
    """Refuse a saved result, which is no scenario.

    Raises
    ------
    InputError
        With the command that shows a saved result.
    """
    from dcplan.errors import InputError, Place, Problem

    path = Path(word)
    if path.suffix != ".json" or not path.is_file():
        return
    try:
        document = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return
    if isinstance(document, dict) and "verb" in document:
        cause = "a saved result, not a scenario"
        help_text = f"dcplan show {word}; dcplan explain takes the scenario of the result"
        raise InputError([Problem("DC006", cause, Place(word), help=help_text)])


def _is_name(word: str) -> bool:
    """Whether a word cannot be a scenario: no file, no packaged example, no path."""
    from dcplan.catalog.locate import data_dir

    packaged = data_dir("scenarios") / f"{word}.yaml"
    return not (
        Path(word).exists() or packaged.exists() or word.endswith((".yaml", ".yml")) or "/" in word
    )

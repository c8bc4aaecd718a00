"""``dcplan explain``."""

from __future__ import annotations

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
    """One value of the scenario."""

    key: Annotated[
        str | None,
        Flag("a value of that scenario: where it comes from", metavar="[KEY]", argument=True),
    ] = None


@command
def explain(request: ExplainRequest, value: Value, stop: Stop, output: Output) -> Result:
    """Explain a plan: which limits bind, what more would be worth, why not X.

    NAME is a field, a metric, a column or an error code: what it means.
    """
    output.refuse_unwritable()
    if value.key is not None:
        from dcplan.answers.reference.names import value_of

        return value_of(request, value.key)
    if _is_name(request.scenario):
        from dcplan.answers.reference.names import documented

        return documented(request.scenario)
    from dcplan.answers.explain.answer import explain as answer

    return answer(replace(request, stop=stop))


def _is_name(word: str) -> bool:
    """Whether a word can be no scenario: no file, no packaged example, no path of one."""
    from dcplan.catalog.locate import data_dir

    packaged = data_dir("scenarios") / f"{word}.yaml"
    return not (
        Path(word).exists() or packaged.exists() or word.endswith((".yaml", ".yml")) or "/" in word
    )

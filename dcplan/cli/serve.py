"""``dcplan serve``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dcplan.answers.serve.request import ServeRequest
from dcplan.cli.command import Output, command
from dcplan.specs.request import Flag

if TYPE_CHECKING:
    from dcplan.result import Result


@dataclass(frozen=True)
class Drawing:
    """The picture of the frontier."""

    picture: Annotated[
        Path | None, Flag("also draw throughput against interactivity as SVG", metavar="FILE")
    ] = None


@command
def serve(request: ServeRequest, drawing: Drawing, output: Output) -> Result:
    """Estimate throughput, latency, power and cost of serving a model."""
    from dcplan.answers.serve.answer import serve as answer

    result = answer(request)
    if drawing.picture is not None:
        from dcplan.report.files import write_whole
        from dcplan.report.svg.interactivity import interactivity_svg

        write_whole(drawing.picture, interactivity_svg(result))
    return result

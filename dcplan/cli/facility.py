"""``dcplan facility``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dcplan.answers.facility.request import FacilityRequest
from dcplan.cli.command import Output, command
from dcplan.specs.request import Flag

if TYPE_CHECKING:
    from dcplan.result import Result


@dataclass(frozen=True)
class Drawing:
    """The picture of the hall."""

    picture: Annotated[Path | None, Flag("also draw the racks and rows as SVG", metavar="FILE")] = (
        None
    )


@command
def facility(request: FacilityRequest, drawing: Drawing, output: Output) -> Result:
    """Size one data hall: PUE, water, cooling plant and power chain."""
    from dcplan.answers.facility.answer import facility as answer

    result = answer(request)
    if drawing.picture is not None:
        from dcplan.report.files import write_whole
        from dcplan.report.svg.floor import floor_svg

        write_whole(drawing.picture, floor_svg(result))
    return result

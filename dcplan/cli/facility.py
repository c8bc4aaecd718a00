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
    """Files that are written next to the answer."""

    picture: Annotated[Path | None, Flag("also draw the racks and rows as SVG", metavar="FILE")] = (
        None
    )
    one_line: Annotated[
        Path | None,
        Flag("also draw the one-line diagram from utility to racks as SVG", metavar="FILE"),
    ] = None
    hours: Annotated[
        Path | None,
        Flag(
            "also write a year as CSV: 8,760 hours in order with --epw, else bins of equal "
            "temperatures",
            metavar="FILE",
        ),
    ] = None


@command
def facility(request: FacilityRequest, drawing: Drawing, output: Output) -> Result:
    """Size one data hall: PUE, water, cooling plant and power chain."""
    from dcplan.answers.facility.answer import facility as answer
    from dcplan.cli.output import check_writable

    series = None
    if drawing.hours is not None:
        from dcplan.answers.facility.answer import facility_hours

        check_writable(drawing.hours)
        series = facility_hours(request)
    result = answer(request)
    if drawing.hours is not None and series is not None:
        from dcplan.report.csvs import table_csv
        from dcplan.report.files import write_whole

        write_whole(drawing.hours, table_csv(series))
    if drawing.picture is not None:
        from dcplan.report.files import write_whole
        from dcplan.report.svg.floor import floor_svg

        write_whole(drawing.picture, floor_svg(result))
    if drawing.one_line is not None:
        from dcplan.report.files import write_whole
        from dcplan.report.svg.one_line import one_line_svg

        write_whole(drawing.one_line, one_line_svg(result))
    return result

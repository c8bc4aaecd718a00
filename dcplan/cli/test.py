"""``dcplan test``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from dcplan.cli.command import Output, command
from dcplan.cli.options import Format
from dcplan.engine.request import Workers
from dcplan.specs.request import Flag
from dcplan.study.regression.request import GatesRequest

if TYPE_CHECKING:
    from dcplan.result import Result

MANY = 1_000
"""Assumed number of solves, so that the engine uses all cores."""


class CiFormat(StrEnum):
    """Output formats of gates."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MD = "md"
    JUNIT = "junit"
    GITHUB = "github"


CiFmt = Annotated[CiFormat, Flag("table, json, csv, md, junit or github", names=("--format", "-f"))]


@dataclass(frozen=True)
class CiOutput(Output):
    """Output flags with the additional formats for CI services."""

    fmt: CiFmt = CiFormat.TABLE  # type: ignore[assignment]  # more formats than other verbs have

    @property
    def is_junit(self) -> bool:
        """Whether the format holds expectations only."""
        return self.fmt is CiFormat.JUNIT

    def annotate(self, error: Exception) -> None:
        """Mark lines with errors in a pull request, in addition to the report on stderr."""
        from dcplan.cli.output import until_closed
        from dcplan.errors import InputError
        from dcplan.report.ci import problem_notes

        if self.fmt is CiFormat.GITHUB and isinstance(error, InputError):
            with until_closed(sys.stdout):
                sys.stdout.write(problem_notes(error.problems))

    def write(self, result: Result, *, to_file: bool = True) -> None:
        """Write the document to stdout or to ``--out``, warnings to stderr."""
        from dcplan.cli.output import emit, note, until_closed
        from dcplan.report.ci import github, junit
        from dcplan.report.files import write_whole

        out = self.out if to_file else None
        if self.fmt not in (CiFormat.JUNIT, CiFormat.GITHUB):
            emit(
                result,
                fmt=Format(self.fmt.value),
                out=out,
                quiet=self.quiet,
                verbose=self.verbose,
                no_color=self.no_color,
            )
            return
        text = junit(result) if self.is_junit else github(result)
        if out is None:
            with until_closed(sys.stdout):
                sys.stdout.write(text)
        else:
            write_whole(out, text)
            if not self.quiet:
                note(result.headline)


@command
def gate(request: GatesRequest, workers: Workers, output: CiOutput) -> Result:
    """Check the expectations of scenarios; the exit code is for CI."""
    from dcplan.errors import InputError
    from dcplan.study.regression.gates import gates
    from dcplan.study.store import home

    output.refuse_unwritable()
    try:
        return gates(request, home(), workers.of(MANY))
    except InputError as error:
        output.annotate(error)
        raise

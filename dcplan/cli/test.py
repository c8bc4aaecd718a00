"""``dcplan test``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
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
    SARIF = "sarif"


CiFmt = Annotated[
    CiFormat, Flag("table, json, csv, md, junit, github or sarif", names=("--format", "-f"))
]


@dataclass(frozen=True)
class CiOutput(Output):
    """Output flags with the additional formats for CI services."""

    fmt: CiFmt = CiFormat.TABLE  # type: ignore[assignment]  # more formats than other verbs have

    @property
    def is_junit(self) -> bool:
        """Whether the format holds expectations only."""
        return self.fmt is CiFormat.JUNIT

    def annotate(self, error: Exception) -> None:
        """Write input errors in the format of a CI service, in addition to the report on stderr."""
        from dcplan.errors import InputError
        from dcplan.report.ci import problem_notes
        from dcplan.report.sarif import sarif_of_problems

        if not isinstance(error, InputError):
            return
        if self.fmt is CiFormat.GITHUB:
            self._put(problem_notes(error.problems), None)
        elif self.fmt is CiFormat.SARIF:
            self._put(sarif_of_problems(error.problems), self.out)

    def _put(self, text: str, out: Path | None) -> None:
        """Write a text to stdout or to a file."""
        from dcplan.cli.output import until_closed
        from dcplan.report.files import write_whole

        if out is not None:
            write_whole(out, text)
            return
        with until_closed(sys.stdout):
            sys.stdout.write(text)

    def write(self, result: Result, *, to_file: bool = True) -> None:
        """Write the document to stdout or to ``--out``, warnings to stderr."""
        from dcplan.cli.output import emit, note
        from dcplan.report.ci import github, junit
        from dcplan.report.sarif import sarif

        out = self.out if to_file else None
        made = {CiFormat.JUNIT: junit, CiFormat.GITHUB: github, CiFormat.SARIF: sarif}
        if self.fmt in made:
            self._put(made[self.fmt](result), out)
            if out is not None and not self.quiet:
                note(result.headline)
            return
        emit(
            result,
            fmt=Format(self.fmt.value),
            out=out,
            quiet=self.quiet,
            verbose=self.verbose,
            no_color=self.no_color,
        )


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

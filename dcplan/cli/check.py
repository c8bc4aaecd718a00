"""``dcplan check``."""

from __future__ import annotations

import typer

from dcplan.answers.check.request import CheckRequest
from dcplan.cli.command import command
from dcplan.cli.test import CiOutput


@command
def check(request: CheckRequest, output: CiOutput) -> None:
    """Check scenarios for errors and implausible values without solving."""
    from dcplan.errors import InputError, Place, Problem
    from dcplan.study.checks import check_files

    if output.is_junit:
        cause = "junit is a format of dcplan test only"
        raise InputError([Problem("DC050", cause, Place("--format"), help="dcplan test FILE")])
    try:
        result = check_files(request)
    except InputError as error:
        output.annotate(error)
        raise
    output.write(result)
    raise typer.Exit(result.exit_code)

"""Request of ``dcplan calibrate``: the measuring script, or the overlay from its result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from dcplan.errors import Place, Problem
from dcplan.specs.request import Flag

SCRIPT = "measure.py"


@dataclass(frozen=True)
class CalibrateRequest:
    """One result of the measuring script, and the accelerator on which it ran."""

    result_file: Annotated[
        Path | None,
        Flag(
            "JSON result of the script; without it, dcplan writes the script",
            metavar="RESULT",
            argument=True,
        ),
    ] = None
    accelerator: Annotated[
        str | None, Flag("measured catalog row, such as h100-sxm", complete="accelerators")
    ] = None
    catalogs: Annotated[
        tuple[str, ...], Flag("catalog overlay folder; repeatable, the last one takes precedence")
    ] = ()


def missing(request: CalibrateRequest) -> list[Problem]:
    """Return the arguments that the fit of a result lacks."""
    return list(_missing(request))


def _missing(request: CalibrateRequest) -> Iterator[Problem]:
    if request.result_file is None:
        yield problem("RESULT is missing: the JSON result of the script")
    if request.accelerator is None:
        example = f"dcplan calibrate {request.result_file} --accelerator h100-sxm -o overlay/"
        yield problem("--accelerator is missing: the measured catalog row", example)


def problem(cause: str, help_text: str = "") -> Problem:
    """Return a problem with the combination of flags."""
    return Problem("DC050", cause, Place("calibrate"), help=help_text)

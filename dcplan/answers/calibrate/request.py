"""What ``dcplan calibrate`` is asked: the script, or the overlay of what the script measured."""

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
    """One file of the measuring script, and the accelerator that it ran on."""

    result_file: Annotated[
        Path | None,
        Flag(
            "the JSON that the script wrote; without it, the script",
            metavar="RESULT",
            argument=True,
        ),
    ] = None
    accelerator: Annotated[
        str | None, Flag("catalog row that was measured, such as h100-sxm", complete="accelerators")
    ] = None
    catalogs: Annotated[tuple[str, ...], Flag("overlay folder; repeatable, the last wins")] = ()


def missing(request: CalibrateRequest) -> list[Problem]:
    """Return what the fit of a result lacks."""
    return list(_missing(request))


def _missing(request: CalibrateRequest) -> Iterator[Problem]:
    if request.result_file is None:
        yield problem("RESULT is missing: the JSON that the script wrote")
    if request.accelerator is None:
        example = f"dcplan calibrate {request.result_file} --accelerator h100-sxm -o overlay/"
        yield problem("--accelerator is missing: the catalog row that was measured", example)


def problem(cause: str, help_text: str = "") -> Problem:
    """Return what is wrong with the flags of a request together."""
    return Problem("DC050", cause, Place("calibrate"), help=help_text)

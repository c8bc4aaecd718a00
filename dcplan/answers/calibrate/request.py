"""Request of ``dcplan calibrate``: the measuring script, its result, own runs, or training logs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from dcplan.errors import InputError, Place, Problem
from dcplan.specs.request import Flag, fields_of

SCRIPT = "measure.py"
EXAMPLES = {
    "RESULT": "dcplan calibrate calibration.json --accelerator h100-sxm -o overlay/",
    "--runs": "dcplan calibrate --runs mine.csv --like torchtitan -o overlay/",
    "--from-log": "dcplan calibrate --from-log train.log --accelerator h100-sxm -o mine.csv",
}
"""One command of each form."""


@dataclass(frozen=True)
class CalibrateRequest:
    """One form: a result of the measuring script, a table of own runs, or training logs."""

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
    runs: Annotated[
        Path | None,
        Flag("CSV of own runs of one stack, with the columns of dcplan validate --runs"),
    ] = None
    like: Annotated[
        str | None,
        Flag(
            "stack whose values are the start of the fit to --runs (default: the stack of the "
            "runs, or the usual one of their accelerator)",
            complete="stacks",
        ),
    ] = None
    name: Annotated[
        str | None, Flag("id of the stack in the overlay of --runs, or in the rows of --from-log")
    ] = None
    kernels: Annotated[
        Path | None, Flag("JSON result of the script, measured on the accelerator of --runs")
    ] = None
    from_log: Annotated[
        tuple[Path, ...],
        Flag("training log that becomes a row of a table of runs; repeatable", metavar="LOG"),
    ] = ()
    model: Annotated[
        str | None,
        Flag("catalog model of the logs, for columns that they do not say", complete="models"),
    ] = None
    set: Annotated[
        tuple[str, ...],
        Flag("column=value of all rows of --from-log, such as n_accelerators=64; repeatable"),
    ] = ()
    catalogs: Annotated[
        tuple[str, ...], Flag("catalog overlay folder; repeatable, the last one takes precedence")
    ] = ()


FORMS = {
    "RESULT": ("result_file", ("accelerator",)),
    "--runs": ("runs", ("like", "name", "kernels", "accelerator")),
    "--from-log": ("from_log", ("name", "accelerator", "model", "set")),
}
"""Field that chooses each form, and the fields that it reads in addition to ``catalogs``."""


def form_of(request: CalibrateRequest) -> str | None:
    """Return the form of a request; None writes the script.

    Raises
    ------
    InputError
        When two forms are mixed, or a flag belongs to another form.
    """
    chosen = [form for form, (field, _) in FORMS.items() if getattr(request, field)]
    if len(chosen) > 1:
        raise InputError([problem(f"{' and '.join(chosen)} exclude each other: give one of them")])
    form = chosen[0] if chosen else None
    allowed = FORMS[form][1] if form else ()
    given = {f.name for f in fields_of(CalibrateRequest) if getattr(request, f.name)}
    others = sorted(given - {"catalogs", *(field for field, _ in FORMS.values())} - {*allowed})
    if others:
        problems = [_misplaced(name, form) for name in others]
        raise InputError(problems)
    return form


def _misplaced(name: str, form: str | None) -> Problem:
    """Return the problem of a flag without its form."""
    owners = [x for x, (_, names) in FORMS.items() if name in names]
    flag = f"--{name.replace('_', '-')}"
    cause = f"{flag} is not for {form}" if form else f"{flag} needs {' or '.join(owners)}"
    return problem(cause, EXAMPLES[owners[0]])


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

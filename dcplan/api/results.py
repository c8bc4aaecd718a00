"""Results from Python: read a saved one, write one as a file, compare two."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcplan.answers.diff.request import SIDES, DiffRequest
from dcplan.api.studies import PythonWorkers
from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.report.exports import write_export
from dcplan.report.saved import read_result
from dcplan.result import Result
from dcplan.specs.export import SUFFIX, Target
from dcplan.specs.request import verb
from dcplan.study.regression import diff as regression
from dcplan.study.store import home

ENDINGS = {f".{name}": target for target, name in SUFFIX.items()} | {
    f".{target}": target
    for target in (Target.JSON, Target.XLSX, Target.HTML, Target.MD, Target.PARQUET)
}
"""Ending of a file name -> its format; the longer endings come first."""


def read(path: str | Path) -> Result:
    """Read a result that was saved with ``-f json -o`` or with :func:`export`.

    Parameters
    ----------
    path : str or Path
        A file of the format ``dcplan.result/1``.

    Raises
    ------
    InputError
        DC006 when the file is missing or is not a result.
    """
    return read_result(Path(path))


def export(result: Result, path: str | Path, to: str | None = None) -> Path:
    """Write a result as a file or as a folder of files, and return its path.

    Parameters
    ----------
    result : Result
        A finished answer.
    path : str or Path
        The file, or the folder of ``csv``, ``parquet`` and ``netbox``.
    to : str, optional
        ``json``, ``xlsx``, ``html``, ``md``, ``csv``, ``parquet``, ``focus``, ``purchases``,
        ``memo`` or ``netbox``; by default the format of the file's ending, and ``csv`` for a path without one.

    Raises
    ------
    InputError
        DC050 when the format is unknown, or this answer cannot have it.
    OSError
        When the path cannot be written.
    """
    path = Path(path)
    write_export(result, _target(path, to), path)
    return path


def _target(path: Path, to: str | None) -> Target:
    if to is not None:
        if to in tuple(Target):
            return Target(to)
        cause = f"{to!r}: must be one of {', '.join(Target)}"
        raise InputError([Problem("DC050", cause, Place("to"), did_you_mean(to, tuple(Target)))])
    if not path.suffix:
        return Target.CSV
    found = next((x for end, x in ENDINGS.items() if path.name.lower().endswith(end)), None)
    if found is None:
        cause = f"{path.name}: no format has this ending"
        help_text = f"name the format with to=, one of {', '.join(Target)}"
        raise InputError([Problem("DC050", cause, Place("path"), help=help_text)])
    return found


@dataclass(frozen=True)
class DiffCall(PythonWorkers, DiffRequest):
    """A comparison from Python, with the engine of its solves."""


def diff(before: str | Path | Result, after: str | Path | Result, **options: Any) -> Result:
    """Compare two answers: inputs, decisions and figures that differ.

    Parameters
    ----------
    before, after : str, Path or Result
        A scenario, a folder of scenarios, a saved result, ``git:REV`` or ``git:REV:path``; or two
        results.
    **options
        ``labels`` (names of both sides), ``variant``, ``sets`` (for ``after`` only), ``catalogs``,
        ``gap``, ``time_limit_s``, ``no_cache``, ``engine`` and ``jobs``, as in ``dcplan diff``. Two
        results take only ``labels``.

    Raises
    ------
    InputError
        When a reference does not exist, an option is unknown, or only one side is a result.
    """
    if isinstance(before, Result) and isinstance(after, Result):
        labels = options.pop("labels", ())
        if options:
            cause = f"{', '.join(options)}: two results are compared as they are"
            raise InputError([Problem("DC050", cause, Place("diff"))])
        return regression.of_results(before, after, labels)
    if isinstance(before, Result) or isinstance(after, Result):
        cause = "one side is a result, and the other side is a reference"
        help_text = "give two results, or save the result with dcplan.export and give its path"
        raise InputError([Problem("DC050", cause, Place("diff"), help=help_text)])
    return _diff(before, after, **options)


@verb(DiffCall, "diff")
def _diff(request: DiffCall) -> Result:
    """Compare two references."""
    return regression.diff(request, home(), request.of(SIDES))

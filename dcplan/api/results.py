"""Results from Python: read a saved one, write one as a file, compare two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcplan.answers.diff.request import SIDES, DiffRequest
from dcplan.api.studies import PythonWorkers
from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.report.exports import refuse_answers, write_export
from dcplan.report.files import write_whole
from dcplan.report.html.compared import compared_page
from dcplan.report.html.compared_text import Side
from dcplan.report.redact import redacted
from dcplan.report.saved import read_result
from dcplan.result import Result
from dcplan.specs.export import SUFFIX, Target
from dcplan.specs.regression.diff import INPUTS_CHANGED
from dcplan.specs.verb import verb
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


def export(
    result: Result,
    path: str | Path,
    to: str | None = None,
    *,
    against: Result | None = None,
    labels: Sequence[str] = (),
    answers: Sequence[Result] = (),
) -> Path:
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
    against : Result, optional
        Another answer of the same verb. The file is then one page, ``html``, that compares both.
    labels : sequence of str, optional
        Names of ``result`` and ``against`` on that page; by default those of their scenarios.
    answers : sequence of Result, optional
        Answers of ``explain`` or ``tco`` on the same scenario, for the memo and the page.

    Raises
    ------
    InputError
        DC050 when the format is unknown, this answer cannot have it, or ``labels`` or ``answers``
        would have no effect; DC056 when ``against`` is of
        another verb.
    OSError
        When the path cannot be written.
    """
    path = Path(path)
    target = _target(path, to)
    if isinstance(labels, str) or (labels and against is None):
        cause = f"labels={labels!r}: two names are needed, of two results"
        raise InputError([Problem("DC050", cause, Place("labels"), help="give against= too")])
    if against is None:
        write_export(result, target, path, answers)
    elif target is Target.HTML:
        export_both(result, against, path, labels, answers)
    else:
        cause = f"{target}: two results are compared as html"
        raise InputError([Problem("DC050", cause, Place("to"))])
    return path


def export_both(
    first: Result,
    second: Result,
    path: Path,
    labels: Sequence[str] = (),
    answers: Sequence[Result] = (),
    *,
    redact: bool = False,
) -> None:
    """Write one page that compares two answers of the same verb.

    Parameters
    ----------
    labels : sequence of str
        Names of both on the page; empty for those of their scenarios.
    answers : sequence of Result
        Answers of ``explain`` or ``tco`` on the scenario of either plan.
    redact : bool
        Whether to omit user prices and amounts by item.

    Raises
    ------
    InputError
        DC056 when the verbs differ or nothing is in common, DC050 when an answer is on neither
        scenario, or is given for answers that are no plans.
    """
    _refuse_different(first, second)
    if answers:
        refuse_answers([first, second], Target.HTML)
    names = tuple(labels) or _names(first, second)
    changes = regression.of_results(first, second, names)
    if redact:
        open_inputs = redacted(changes).tables[INPUTS_CHANGED.name]
        first, second = redacted(first), redacted(second)
        answers = [redacted(x) for x in answers]
        changes = regression.of_results(first, second, names)
        changes.tables[INPUTS_CHANGED.name] = open_inputs
    sides = (Side(names[0], first, tuple(answers)), Side(names[1], second, tuple(answers)))
    try:
        text = compared_page(sides, changes)
    except ValueError as error:
        raise InputError([Problem("DC050", str(error), Place("--with"))]) from error
    write_whole(path, text)


def _refuse_different(first: Result, second: Result) -> None:
    common = {*first.metrics, *first.tables} & {*second.metrics, *second.tables}
    if first.verb == second.verb and (common or first.verb == "plan"):
        return
    cause = f"an answer of {first.verb} and an answer of {second.verb}"
    if first.verb == second.verb:
        cause = f"two answers of {first.verb} with no figure and no table in common"
    help_text = f"make both with dcplan {first.verb} ... -f json -o RESULT"
    raise InputError([Problem("DC056", cause, Place("report"), help=help_text)])


def _names(first: Result, second: Result) -> tuple[str, str]:
    """Return the names of both scenarios; A and B where they are the same."""
    names = [str(x.scenario.get("name") or x.verb) for x in (first, second)]
    return ("A", "B") if names[0] == names[1] else (names[0], names[1])


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

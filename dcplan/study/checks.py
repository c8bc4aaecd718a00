"""``dcplan check`` of many scenarios: reports the problems of all of them together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from dcplan.answers.check.answer import check
from dcplan.answers.check.request import CheckRequest
from dcplan.errors import EXIT_INFEASIBLE, EXIT_OK, InputError, Place, Problem
from dcplan.result import Result
from dcplan.specs.check import CHECKED, CheckedRow
from dcplan.specs.no_plan import CONFLICT
from dcplan.specs.verb import verb
from dcplan.study.regression.kept import scenario_files

INFEASIBLE = "infeasible"


def check_files(request: CheckRequest) -> Result:
    """Check one scenario in full, or many in one table.

    Raises
    ------
    InputError
        With the problems of all of them.
    """
    lone = len(request.files) == 1 and not Path(request.files[0]).is_dir()
    if lone:
        return check(request.one(request.files[0], request.variant))
    return check_all(request)


@verb(CheckRequest, "check")
def check_all(request: CheckRequest) -> Result:
    """Check scenarios and folders of scenarios, with every variant or with one variant.

    Raises
    ------
    InputError
        With the problems of all of them.
    """
    variant = request.variant
    rows: list[CheckedRow] = []
    problems: list[Problem] = []
    warnings: dict[str, None] = {}
    for name in _named(request.files):
        try:
            named = request.one(name, None).question().scenario.scenarios
        except InputError as error:
            problems += error.problems
            continue
        for one in [variant] * (variant in named) if variant else [None, *named]:
            try:
                found = check(request.one(name, one))
            except InputError as error:
                problems += error.problems
                continue
            warnings |= {f"{name}: {w['message']}": None for w in found.warnings}
            rows += _rows(name, one, found)
    if not rows and not problems:
        cause = (
            f"no file has a variant {variant!r}"
            if variant
            else "no scenario found: a scenario is a file with the key `dcplan: 1`"
        )
        place = Place(", ".join(request.files))
        problems.append(Problem("DC013" if variant else "DC006", cause, place))
    if problems:
        raise InputError(dict.fromkeys(problems))
    return _answer(rows, warnings)


def _rows(name: str, variant: str | None, found: Result) -> list[CheckedRow]:
    """Return the result for one scenario and variant: its headline, or why it has no plan."""
    conflict = found.tables.get(CONFLICT.name)
    if conflict is None:
        return [CheckedRow(name, variant or "", found.status, found.headline, None, None, None)]
    return [
        CheckedRow(name, variant or "", found.status, row.cause, row.code, row.place, row.remedy)
        for row in CONFLICT.rows(conflict)
    ]


def _answer(rows: Sequence[CheckedRow], warnings: Iterable[str]) -> Result:
    plans = {(row.scenario, row.variant): row.status for row in rows}
    bad = sum(status == INFEASIBLE for status in plans.values())
    verdict = f"{bad} of them cannot have a plan" if bad else "no error found"
    files = len({row.scenario for row in rows})
    return Result(
        "check",
        INFEASIBLE if bad else "ok",
        EXIT_INFEASIBLE if bad else EXIT_OK,
        f"{len(plans)} plans in {files} scenarios: {verdict}",
        scenario={"name": "check"},
        tables={"checked": CHECKED.table(rows)},
        warnings=[{"code": "note", "message": text} for text in warnings],
    )


def _named(files: Sequence[str]) -> list[str]:
    return [
        str(p)
        for text in files
        for p in (scenario_files(Path(text)) if Path(text).is_dir() else [text])
    ]

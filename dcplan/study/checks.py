"""``dcplan check`` of many scenarios: all that is wrong in any of them at once; nothing is solved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dcplan.answers.check.answer import check
from dcplan.errors import EXIT_INFEASIBLE, EXIT_OK, InputError, Place, Problem
from dcplan.result import Cell, Result, Table
from dcplan.scenario.load import load
from dcplan.study.regression.kept import scenario_files

COLUMNS = ("scenario", "variant", "status", "finding", "code", "at", "help")


def check_all(
    files: Sequence[str],
    *,
    variant: str | None = None,
    sets: Sequence[str] = (),
    catalogs: Sequence[str] = (),
) -> Result:
    """Check scenarios, and folders of them, with every variant in their ``scenarios:``, or with one
    of them.

    Raises
    ------
    InputError
        With the problems of all of them.
    """
    rows: list[tuple[Cell, ...]] = []
    problems: list[Problem] = []
    warnings: dict[str, None] = {}
    for name in _named(files):
        try:
            named = load(name, sets=sets, catalogs=catalogs).scenario.scenarios
        except InputError as error:
            problems += error.problems
            continue
        for one in [variant] * (variant in named) if variant else [None, *named]:
            try:
                found = check(name, variant=one, sets=sets, catalogs=catalogs)
            except InputError as error:
                problems += error.problems
                continue
            warnings |= {f"{name}: {w['message']}": None for w in found.warnings}
            conflict = found.tables.get("conflict")
            if conflict is None:
                rows.append((name, one or "", found.status, found.headline, None, None, None))
            rows += [
                (
                    name,
                    one or "",
                    found.status,
                    row["cause"],
                    row["code"],
                    row["place"],
                    row["remedy"],
                )
                for row in (conflict.records() if conflict is not None else ())
            ]
    if not rows and not problems:
        cause = (
            f"no scenario {variant!r} in any file"
            if variant
            else "no scenario here: a file whose key is `dcplan: 1`"
        )
        problems.append(Problem("DC013" if variant else "DC006", cause, Place(", ".join(files))))
    if problems:
        raise InputError(dict.fromkeys(problems))
    bad = len({(row[0], row[1]) for row in rows if row[2] == "infeasible"})
    plans = len({(row[0], row[1]) for row in rows})
    verdict = f"{bad} of them can have no plan" if bad else "no error found"
    return Result(
        "check",
        "infeasible" if bad else "ok",
        EXIT_INFEASIBLE if bad else EXIT_OK,
        f"{plans} plans in {len({row[0] for row in rows})} scenarios: {verdict}",
        scenario={"name": "check"},
        tables={"checked": Table(COLUMNS, tuple(rows))},
        warnings=[{"code": "note", "message": text} for text in warnings],
    )


def _named(files: Sequence[str]) -> list[str]:
    return [
        str(p)
        for text in files
        for p in (scenario_files(Path(text)) if Path(text).is_dir() else [text])
    ]


def is_many(files: Sequence[str]) -> bool:
    """Whether more than one scenario may be meant."""
    return len(files) > 1 or any(Path(text).is_dir() for text in files)

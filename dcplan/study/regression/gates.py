"""``dcplan test``: expectations of many scenarios, absolute or against a base; what did not change
is not solved.
"""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcplan.errors import (
    EXIT_INCOMPLETE,
    EXIT_INFEASIBLE,
    EXIT_INTERRUPTED,
    EXIT_NO,
    EXIT_OK,
    InputError,
    Place,
    Problem,
    did_you_mean,
)
from dcplan.result import Cell, Result, Table
from dcplan.scenario.expect import BASE, FILE, Values, evaluate
from dcplan.scenario.load import Question, load
from dcplan.scenario.schema import Expectation
from dcplan.study.engine.engines import Engine
from dcplan.study.regression.kept import Kept, Wanted, plans
from dcplan.study.regression.refs import Ref, resolved
from dcplan.study.store import Store

COLUMNS = (
    "result",
    "scenario",
    "variant",
    "id",
    "metric",
    "observed",
    "base",
    "limit",
    "severity",
    "owner",
    "note",
    "reason",
    "at",
)
PASSED, FAILED, WARNING, SKIPPED = "passed", "FAILED", "warning", "skipped"
ORDER = (FAILED, WARNING, SKIPPED, PASSED)
WORST = (EXIT_INTERRUPTED, EXIT_INCOMPLETE, EXIT_INFEASIBLE, EXIT_NO, EXIT_OK)
"""Exit codes of answers, the first that any scenario has."""


Options = tuple[tuple[str, ...], float, float]
"""Catalogs, gap and time limit of every solve."""


@dataclass(frozen=True)
class Case:
    """A scenario file with one of its variants, and the same at the base."""

    name: str
    wanted: Wanted
    base: Wanted | None
    reason: str
    """Why there is no base."""
    beside: tuple[Wanted, ...] = ()
    """Variants of the same file that expectations are against."""


def gates(  # noqa: PLR0913 - the flags of the verb
    files: Sequence[str],
    home: Path,
    *,
    base: str | None = None,
    variant: str | None = None,
    catalogs: Sequence[str] = (),
    gap: float = 0.005,
    time_limit_s: float = 120.0,
    engine: Engine | None = None,
    error_on_warning: bool = False,
    exit_zero: bool = False,
    fresh: bool = False,
) -> Result:
    """Check what scenarios expect of their plans.

    Parameters
    ----------
    files : sequence of str
        Scenarios, or folders of them; every variant in their ``scenarios:`` is checked too.
    home : Path
        Where plans and revisions are kept.
    base : str, optional
        What changes are measured against: ``git:REV``, a folder, a scenario or a saved result.
    variant : str, optional
        Check this one alone.
    error_on_warning, exit_zero : bool
        Whether warnings fail; whether a failed expectation ends with 0 all the same.

    Raises
    ------
    InputError
        With the problems of all scenarios.
    """
    cases = _cases(files, home, base, variant, (tuple(catalogs), gap, time_limit_s))
    asked = [w for case in cases for w in (case.wanted, case.base, *case.beside) if w is not None]
    kept = plans(list(dict.fromkeys(asked)), Store(home / "plans"), engine, fresh=fresh)
    reference = resolved(base, files[0], home).result if base else None
    if reference is not None and reference.verb != "plan":
        cause = f"a result of `{reference.verb}`: a plan is needed"
        raise InputError(
            [
                Problem(
                    "DC006", cause, Place(str(base)), help="dcplan plan FILE -f json -o base.json"
                )
            ]
        )
    rows = [row for case in cases for row in _checked(case, kept, reference, base)]
    rows.sort(key=lambda row: ORDER.index(row["result"]))
    own = [kept[case.wanted] for case in cases]
    gone = (
        _gone(files, home, base, cases, kept)
        if base and reference is None and variant is None
        else []
    )
    return _result(cases, own, rows, gone, error_on_warning=error_on_warning, exit_zero=exit_zero)


def _gone(
    files: Sequence[str], home: Path, base: str, cases: Sequence[Case], kept: Mapping[Wanted, Kept]
) -> list[str]:
    """Expectations, and scenarios with some, that the base has and that are not there any more."""
    found = []
    now: dict[str, set[str]] = {}
    for case in cases:
        now.setdefault(str(Path(case.wanted.file)), set()).update(
            e.id for e in kept[case.wanted].question.scenario.expect
        )
    for text in files:
        own, other = resolved(text, text, home), resolved(base, text, home)
        lone = next(iter(own.files.values())) if len(own.files) == 1 else None
        for name, path in other.files.items():
            try:
                before = {
                    e.id for e in load(str(path), catalogs=cases[0].wanted.catalogs).scenario.expect
                }
            except InputError:
                continue  # a base that does not load is refused where it is needed
            here = own.files.get(name) or (lone if len(other.files) == 1 else None)
            lost = sorted(before - now.get(str(here), set()))
            if lost:
                found.append(f"{name}: expectations of {base} that are gone: {', '.join(lost)}")
    return found


def _cases(
    files: Sequence[str], home: Path, base: str | None, variant: str | None, options: Options
) -> list[Case]:
    found: list[Case] = []
    problems: list[Problem] = []
    names: set[str] = set()
    for text in files:
        ref = resolved(text, text, home)
        other = resolved(base, text, home) if base else None
        for name, path in ref.files.items():
            shown = str(Path(text) / name) if Path(text).is_dir() else text
            try:
                question = load(str(path), catalogs=options[0])
            except InputError as error:
                problems += error.problems
                continue
            names |= set(question.scenario.scenarios)
            variants = [variant] if variant else [None, *question.scenario.scenarios]
            if variant and variant not in question.scenario.scenarios:
                continue
            for one in variants:
                needed = any(_against_base(e, one) for e in question.scenario.expect)
                before, reason = (
                    _base(other, base, name, path, one, options) if needed else (None, "")
                )
                beside = tuple(Wanted(str(path), v, (), *options) for v in _others(question))
                found.append(
                    Case(shown, Wanted(str(path), one, (), *options), before, reason, beside)
                )
    if problems:
        raise InputError(dict.fromkeys(problems))
    if not found:
        cause = f"no scenario {variant!r} in any file"
        raise InputError(
            [Problem("DC013", cause, Place("--scenario"), did_you_mean(str(variant), names))]
        )
    return list(dict.fromkeys(found))


def _others(question: Question) -> list[str | None]:
    """Variants that expectations are against; None for the file without any."""
    named = {e.against or BASE for e in question.scenario.expect} & {
        FILE,
        *question.scenario.scenarios,
    }
    return [None if name == FILE else name for name in sorted(map(str, named))]


def _against_base(e: Expectation, variant: str | None) -> bool:
    relative = any(
        x is not None for x in (e.change_min, e.change_max, e.change_pct_min, e.change_pct_max)
    )
    return (
        relative
        and (e.against or BASE) == BASE
        and fnmatch.fnmatchcase(variant or FILE, e.when or "*")
    )


def _base(
    other: Ref | None,
    base: str | None,
    name: str,
    path: Path,
    variant: str | None,
    options: Options,
) -> tuple[Wanted | None, str]:
    """The same scenario at the base, or why there is none; one that is new has none."""
    if other is None or other.result is not None:
        return None, ""
    there = next(iter(other.files.values())) if len(other.files) == 1 else None
    file = other.files.get(name) or (
        there if there is not None and there.name == path.name else None
    )
    if file is None and there is not None and Path(str(base)).is_file():
        file = there
    if file is None:
        return None, f"new: not in {base}"
    try:
        if (
            variant is not None
            and variant not in load(str(file), catalogs=options[0]).scenario.scenarios
        ):
            return None, f"new: no scenario {variant!r} in {base}"
    except InputError as error:
        raise other.told(error) from error
    return Wanted(str(file), variant, (), *options), ""


def _checked(
    case: Case, kept: Mapping[Wanted, Kept], reference: Result | None, base: str | None
) -> list[dict[str, Any]]:
    """Every expectation of a case with what became of it."""
    own = kept[case.wanted]
    bases: dict[str, Values | str] = {
        other.variant or FILE: _values(kept[other].result) for other in case.beside
    }
    if case.base is not None:
        bases[BASE] = _values(kept[case.base].result)
    elif reference is not None:
        bases[BASE] = _values(reference)
    elif base is not None:
        bases[BASE] = case.reason
    scenario = own.question.scenario
    found = evaluate(scenario.expect, _values(own.result), bases, case.wanted.variant)
    rows = []
    for i, e in enumerate(found):
        if not own.result.metrics:
            e |= {"passed": None, "reason": f"no plan: {own.result.status}"}
        place = own.question.tree.place(("expect", i))
        rows.append(
            {
                **e,
                "scenario": case.name,
                "variant": case.wanted.variant or "",
                "at": str(place),
                "result": _verdict(e),
            }
        )
    return rows


def _values(result: Result) -> Values:
    return {key: metric.value for key, metric in result.metrics.items()}


def _verdict(e: Mapping[str, Any]) -> str:
    if e["passed"] is None:
        return SKIPPED
    return PASSED if e["passed"] else FAILED if e["severity"] == "error" else WARNING


def _result(
    cases: Sequence[Case],
    kept: Sequence[Kept],
    rows: list[dict[str, Any]],
    gone: Sequence[str],
    *,
    error_on_warning: bool,
    exit_zero: bool,
) -> Result:
    counts = Counter(row["result"] for row in rows)
    failed = bool(counts[FAILED] or (error_on_warning and (counts[WARNING] or gone)))
    codes = {EXIT_NO} if failed and not exit_zero else set()
    codes |= {k.result.exit_code for k in kept} - {EXIT_NO, EXIT_OK}
    code = next((c for c in WORST if c in codes), EXIT_OK)
    known = sum(k.known for k in kept)
    words = ", ".join(
        f"{counts[name]} {name}" for name in (PASSED, FAILED, WARNING, SKIPPED) if counts[name]
    )
    plain = sum(not k.question.scenario.expect for k in kept)
    text = f"{len(cases)} plans, {len(rows)} expectations: {words or 'none'}"
    status = {
        EXIT_INFEASIBLE: "infeasible",
        EXIT_INCOMPLETE: "incomplete",
        EXIT_INTERRUPTED: "interrupted",
    }
    answers = tuple(
        (
            case.name,
            case.wanted.variant or "",
            one.result.status,
            "known" if one.known else "solved",
            one.result.headline,
        )
        for case, one in zip(cases, kept, strict=True)
    )
    notes = [f"{plain} of them expect nothing: add `expect:` to gate them"] if plain else []
    return Result(
        "test",
        status.get(code, "expectation_failed" if failed else "ok"),
        code,
        f"{text}{_lost(kept)}; {known} known, {len(cases) - known} solved",
        scenario={"name": "test"},
        tables={
            "gates": Table(COLUMNS, tuple(tuple(_cell(row[c]) for c in COLUMNS) for row in rows)),
            "plans": Table(("scenario", "variant", "status", "was", "answer"), answers),
        },
        expectations=[{k: v for k, v in row.items() if k != "result"} for row in rows],
        warnings=[{"code": "gone", "message": text} for text in gone]
        + [{"code": "note", "message": t} for t in notes],
    )


def _lost(kept: Sequence[Kept]) -> str:
    """Plans that there are not, by what became of them."""
    counts = Counter(
        k.result.status for k in kept if not k.result.metrics or k.result.exit_code > EXIT_NO
    )
    return "".join(f"; {n} {status.upper()}" for status, n in sorted(counts.items()))


def _cell(value: Any) -> Cell:
    return value if isinstance(value, str | int | float) else None

"""Cases of ``dcplan test``: files with their variants, and their counterparts at the base."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.scenario.expect import BASE, FILE
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Expectation
from dcplan.study.regression.refs import Ref, resolved
from dcplan.study.regression.request import GatesRequest, Wanted


@dataclass(frozen=True)
class Case:
    """A scenario file with one of its variants, and their counterpart at the base."""

    name: str
    wanted: Wanted
    base: Wanted | None
    reason: str
    """Reason for a missing base."""
    others: tuple[Wanted, ...] = ()
    """Variants of the same file with which expectations compare."""


def cases_of(request: GatesRequest, home: Path) -> list[Case]:
    """Return every requested file and variant, with its counterpart at the base."""
    found: list[Case] = []
    problems: list[Problem] = []
    names: set[str] = set()
    for text in request.files:
        ref = resolved(text, text, home)
        other = resolved(request.base, text, home) if request.base else None
        for name, path in ref.files.items():
            shown = str(Path(text) / name) if Path(text).is_dir() else text
            try:
                question = request.wanted(path, None).question()
            except InputError as error:
                problems += error.problems
                continue
            names |= set(question.scenario.scenarios)
            found += _of_file(request, question, other, path, name, shown)
    if problems:
        raise InputError(dict.fromkeys(problems))
    if not found:
        cause = f"no file has a variant {request.variant!r}"
        hint = did_you_mean(str(request.variant), names)
        raise InputError([Problem("DC013", cause, Place("--variant"), hint)])
    return list(dict.fromkeys(found))


def _of_file(
    request: GatesRequest, question: Question, other: Ref | None, path: Path, name: str, shown: str
) -> Iterator[Case]:
    """Yield the cases of one file: all variants, or the requested one."""
    variants = [None, *question.scenario.scenarios]
    if request.variant is not None:
        variants = [v for v in variants if v == request.variant]
    others = tuple(request.wanted(path, v) for v in _others(question))
    for variant in variants:
        needed = any(_against_base(e, variant) for e in question.scenario.expect)
        base, reason = _base(request, other, name, path, variant) if needed else (None, "")
        yield Case(shown, request.wanted(path, variant), base, reason, others)


def _others(question: Question) -> list[str | None]:
    """Return the variants with which expectations compare; None for the file without variant."""
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
    request: GatesRequest, other: Ref | None, name: str, path: Path, variant: str | None
) -> tuple[Wanted | None, str]:
    """Return the same scenario at the base, or why there is none, such as a new scenario."""
    base = request.base
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
        known = request.at_base(file, None).question().scenario.scenarios if variant else ()
    except InputError as error:
        raise other.labeled(error) from error
    if variant is not None and variant not in known:
        return None, f"new: no variant {variant!r} in {base}"
    return request.at_base(file, variant), ""

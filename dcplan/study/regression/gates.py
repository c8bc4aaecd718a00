"""``dcplan test``: expectations of many scenarios; unchanged plans are not solved again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcplan.engine.engines import Engine
from dcplan.errors import (
    EXIT_INCOMPLETE,
    EXIT_INFEASIBLE,
    EXIT_INTERRUPTED,
    EXIT_NO,
    EXIT_OK,
    InputError,
    Place,
    Problem,
)
from dcplan.result import Result, cell_of
from dcplan.scenario.expect import BASE, FILE, Values, evaluate
from dcplan.specs.regression import gates as specs
from dcplan.specs.regression.gates import Verdict
from dcplan.specs.request import checked
from dcplan.study.regression.cases import Case, cases_of
from dcplan.study.regression.kept import Kept, plans
from dcplan.study.regression.refs import resolved
from dcplan.study.regression.request import GatesRequest, Wanted
from dcplan.study.store import Store

ORDER = tuple(Verdict)
SAID = (Verdict.PASSED, Verdict.FAILED, Verdict.WARNING, Verdict.SKIPPED)
"""Order of the counts in the headline."""
WORST = (EXIT_INTERRUPTED, EXIT_INCOMPLETE, EXIT_INFEASIBLE, EXIT_NO, EXIT_OK)
"""Exit codes, worst first; the answer has the first one that any scenario has."""


@dataclass(frozen=True)
class Checked:
    """An expectation of a case with its outcome."""

    case: Case
    found: Mapping[str, Any]
    """As returned by :func:`dcplan.scenario.expect.evaluate`."""
    at: str

    @property
    def verdict(self) -> Verdict:
        """Its outcome in one word."""
        if self.found["passed"] is None:
            return Verdict.SKIPPED
        if self.found["passed"]:
            return Verdict.PASSED
        return Verdict.FAILED if self.found["severity"] == "error" else Verdict.WARNING


def gates(request: GatesRequest, home: Path, engine: Engine | None = None) -> Result:
    """Check the expectations of scenarios on their plans.

    Parameters
    ----------
    home : Path
        Folder of stored plans and revisions.

    Raises
    ------
    InputError
        With the problems of all scenarios.
    """
    cases = cases_of(checked(request), home)
    asked = [w for case in cases for w in (case.wanted, case.base, *case.others) if w is not None]
    kept = plans(
        list(dict.fromkeys(asked)), Store(home / "plans"), engine, no_cache=request.no_cache
    )
    base = request.base
    reference = resolved(base, request.files[0], home).result if base else None
    if reference is not None and reference.verb != "plan":
        cause = f"this is a result of `{reference.verb}`, but a plan is needed"
        help_text = "dcplan plan FILE -f json -o base.json"
        raise InputError([Problem("DC006", cause, Place(str(base)), help=help_text)])
    found = [x for case in cases for x in _checked(case, kept, reference, base)]
    found.sort(key=lambda x: ORDER.index(x.verdict))
    own = [kept[case.wanted] for case in cases]
    gone = (
        _gone(request, home, base, cases, kept)
        if base and reference is None and request.variant is None
        else []
    )
    return _result(request, cases, own, found, gone)


def _gone(
    request: GatesRequest, home: Path, base: str, cases: Sequence[Case], kept: Mapping[Wanted, Kept]
) -> list[str]:
    """Name the expectations of the base that are removed now."""
    found = []
    now: dict[str, set[str]] = {}
    for case in cases:
        now.setdefault(str(Path(case.wanted.scenario)), set()).update(
            e.id for e in kept[case.wanted].question.scenario.expect
        )
    for text in request.files:
        own, other = resolved(text, text, home), resolved(base, text, home)
        lone = next(iter(own.files.values())) if len(own.files) == 1 else None
        for name, path in other.files.items():
            try:
                known = request.at_base(path, None).question()
            except InputError:
                continue  # a base that does not load is refused at its first use
            here = own.files.get(name) or (lone if len(other.files) == 1 else None)
            before = {e.id for e in known.scenario.expect}
            lost = sorted(before - now.get(str(here), set()))
            if lost:
                found.append(f"{name}: expectations of {base} that are removed: {', '.join(lost)}")
    return found


def _checked(
    case: Case, kept: Mapping[Wanted, Kept], reference: Result | None, base: str | None
) -> Iterator[Checked]:
    """Yield every expectation of a case with its outcome."""
    own = kept[case.wanted]
    bases: dict[str, Values | str] = {
        other.variant or FILE: _values(kept[other].result) for other in case.others
    }
    if case.base is not None:
        bases[BASE] = _values(kept[case.base].result)
    elif reference is not None:
        bases[BASE] = _values(reference)
    elif base is not None:
        bases[BASE] = case.reason
    expected = own.question.scenario.expect
    found = evaluate(expected, _values(own.result), bases, case.wanted.variant)
    for i, e in enumerate(found):
        lost = {} if own.result.metrics else {"passed": None, "reason": _no_plan(own.result)}
        yield Checked(case, e | lost, str(own.question.tree.place(("expect", i))))


def _no_plan(result: Result) -> str:
    return f"no plan: {result.status}"


def _values(result: Result) -> Values:
    return {key: metric.value for key, metric in result.metrics.items()}


def _result(
    request: GatesRequest,
    cases: Sequence[Case],
    kept: Sequence[Kept],
    found: Sequence[Checked],
    gone: Sequence[str],
) -> Result:
    counts = Counter(x.verdict for x in found)
    failed = bool(
        counts[Verdict.FAILED] or (request.error_on_warning and (counts[Verdict.WARNING] or gone))
    )
    codes = {EXIT_NO} if failed and not request.exit_zero else set()
    codes |= {k.result.exit_code for k in kept} - {EXIT_NO, EXIT_OK}
    code = next((c for c in WORST if c in codes), EXIT_OK)
    known = sum(k.known for k in kept)
    words = ", ".join(f"{counts[v]} {v}" for v in SAID if counts[v])
    plain = sum(not k.question.scenario.expect for k in kept)
    text = f"{len(cases)} plans, {len(found)} expectations: {words or 'none'}"
    status = {
        EXIT_INFEASIBLE: "infeasible",
        EXIT_INCOMPLETE: "incomplete",
        EXIT_INTERRUPTED: "interrupted",
    }
    notes = [f"{plain} of them have no expectations: add `expect:` to test them"] if plain else []
    return Result(
        "test",
        status.get(code, "expectation_failed" if failed else "ok"),
        code,
        f"{text}{_lost(kept)}; {known} from the store, {len(cases) - known} solved",
        scenario={"name": "test"},
        tables={
            specs.GATES.name: specs.GATES.table(map(_row, found)),
            specs.PLANS.name: specs.PLANS.table(
                _plan(case, one) for case, one in zip(cases, kept, strict=True)
            ),
        },
        expectations=[
            {**x.found, "scenario": x.case.name, "variant": x.case.wanted.variant or "", "at": x.at}
            for x in found
        ],
        warnings=[{"code": "gone", "message": text} for text in gone]
        + [{"code": "note", "message": t} for t in notes],
        run={"plans": [_time(case, one) for case, one in zip(cases, kept, strict=True)]},
    )


def _time(case: Case, kept: Kept) -> dict[str, Any]:
    """Return the seconds that a plan took in this run; 0 if it was stored."""
    seconds = 0.0 if kept.known else float(kept.result.run.get("seconds", 0.0))
    return {"scenario": case.name, "variant": case.wanted.variant or "", "seconds": seconds}


def _row(x: Checked) -> specs.GateRow:
    return specs.GateRow(
        result=x.verdict,
        scenario=x.case.name,
        variant=x.case.wanted.variant or "",
        id=x.found["id"],
        metric=x.found["metric"],
        observed=cell_of(x.found["observed"]),
        base=cell_of(x.found["base"]),
        limit=cell_of(x.found["limit"]),
        severity=x.found["severity"],
        owner=x.found["owner"],
        note=x.found["note"],
        reason=x.found["reason"],
        at=x.at,
    )


def _plan(case: Case, kept: Kept) -> specs.PlanRow:
    return specs.PlanRow(
        scenario=case.name,
        variant=case.wanted.variant or "",
        status=kept.result.status,
        was="known" if kept.known else "solved",
        answer=kept.result.headline,
    )


def _lost(kept: Sequence[Kept]) -> str:
    """Count missing plans by their status."""
    counts = Counter(
        k.result.status for k in kept if not k.result.metrics or k.result.exit_code > EXIT_NO
    )
    return "".join(f"; {n} {status.upper()}" for status, n in sorted(counts.items()))

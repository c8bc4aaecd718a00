"""``dcplan diff``: two references, each solved once, and the differences between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from dcplan.answers.diff.answer import Differences, Side, differences
from dcplan.answers.diff.compared import Compared, compared
from dcplan.answers.diff.request import SIDES, DiffRequest
from dcplan.engine.engines import Engine
from dcplan.errors import EXIT_NO, EXIT_OK, InputError, Place, Problem
from dcplan.result import Result, Table
from dcplan.scenario.load import load
from dcplan.specs.plan import metrics as figures
from dcplan.specs.regression import compared as both
from dcplan.specs.regression import diff as specs
from dcplan.study.regression.kept import Kept, plans
from dcplan.study.regression.refs import Ref, resolved
from dcplan.study.regression.request import Wanted
from dcplan.study.store import Store
from dcplan.units import money

CHANGES = (specs.METRICS_CHANGED, specs.INPUTS_CHANGED, specs.DECISIONS_CHANGED, specs.STATES)
"""Tables that have rows only if something differs."""


def diff(request: DiffRequest, home: Path, engine: Engine | None = None) -> Result:
    """Compare two answers: inputs, decisions and figures.

    Parameters
    ----------
    home : Path
        Folder of stored plans and revisions.

    Raises
    ------
    InputError
        When a reference names nothing, or a scenario is invalid.
    """
    before, after, variant = request.before, request.after, request.variant
    first, second = resolved(before, after, home), resolved(after, before, home)
    first, second = _labeled(first, second, request.labels)
    if request.sets and second.result is not None:
        cause = f"{after} is a saved result, but --set changes scenarios only"
        raise InputError(
            [Problem("DC050", cause, Place("--set"), help="name the scenario of that result")]
        )
    if any(r.result is not None for r in (first, second)) and any(
        len(r.files) > 1 for r in (first, second)
    ):
        cause = "a saved result cannot be compared with a folder: name the scenario of the result"
        raise InputError([Problem("DC006", cause, Place(f"{before} {after}"))])
    wanted = _wanted(first, second, request)
    if not wanted and not (first.result and second.result):
        cause = f"neither side has a variant {variant!r}"
        raise InputError([Problem("DC013", cause, Place("--variant"))])
    try:
        kept = (
            plans(list(wanted.values()), Store(home / "plans"), engine, no_cache=request.no_cache)
            if wanted
            else {}
        )
    except InputError as error:
        raise second.labeled(first.labeled(error)) from error
    answers = {key: kept[w] for key, w in wanted.items()}
    return _answer(first, second, answers, exit_code=request.exit_code)


def of_results(before: Result, after: Result, labels: Sequence[str] = ()) -> Result:
    """Compare two finished answers.

    Parameters
    ----------
    labels : sequence of str
        Their two names in the report; empty for the names of their scenarios.

    Raises
    ------
    InputError
        When there are not two different labels.
    """
    names = (str(result.scenario.get("name") or result.verb) for result in (before, after))
    first, second = (
        Ref(name, {}, result) for name, result in zip(names, (before, after), strict=True)
    )
    return _answer(*_labeled(first, second, labels), {})


def _labeled(first: Ref, second: Ref, labels: Sequence[str]) -> tuple[Ref, Ref]:
    """Return both references with their labels; refuse any number of labels but two."""
    if not labels:
        return first, second
    if len(labels) != SIDES or labels[0] == labels[1]:
        cause = f"{', '.join(labels)}: two different names are needed, of A and of B"
        help_text = "--label today --label 'second hall'"
        raise InputError([Problem("DC050", cause, Place("--label"), help=help_text)])
    return replace(first, label=labels[0]), replace(second, label=labels[1])


def _answer(
    first: Ref, second: Ref, answers: Mapping[tuple[int, str], Kept], *, exit_code: bool = False
) -> Result:
    """Return the comparison of two references whose scenarios are solved."""
    tables, parts = _compared(first, second, answers)
    differs = any(tables[spec.name].rows for spec in CHANGES)
    many = "" if len(parts) <= 1 else f"{len(parts)} scenarios; "
    return Result(
        "diff",
        "ok",
        EXIT_NO if exit_code and differs else EXIT_OK,
        f"{first.name} against {second.name}: "
        + (many + "; ".join(_first_parts(parts)) if differs else "no difference"),
        scenario={"name": f"{first.name}..{second.name}"},
        tables=tables,
        warnings=_warnings([one.result for one in answers.values()]),
    )


def _wanted(first: Ref, second: Ref, request: DiffRequest) -> dict[tuple[int, str], Wanted]:
    """Return the plans of both sides by side and name; --set applies to the second side only."""
    return {
        (side, name): Wanted(
            str(path),
            request.variant,
            request.sets if side else (),
            request.catalogs,
            request.gap,
            request.time_limit_s,
        )
        for side, ref in enumerate((first, second))
        for name, path in _renamed(ref, first, second)
        if request.variant is None or _has(path, request.variant)
    }


def _compared(
    first: Ref, second: Ref, answers: Mapping[tuple[int, str], Kept]
) -> tuple[dict[str, Table], list[str]]:
    """Return the differences of each scenario, and a sentence on each."""
    states: list[specs.StateRow] = []
    every, pairs = Differences([], [], []), Compared([], [], [], [], [])
    parts: list[str] = []
    names = sorted({n for _, n in _names(first, second)})
    for name in names:
        old, new = (_side(ref, answers.get((i, name))) for i, ref in enumerate((first, second)))
        if old is None or new is None:
            state = "added" if old is None else "removed"
            ends = ("" if s is None else s.result.headline for s in (old, new))
            states.append(specs.StateRow(name, state, *ends))
            parts.append(f"{name} {state}")
            continue
        found = differences(name, old, new)
        every.metrics.extend(found.metrics)
        every.inputs.extend(_shown(row, first, second) for row in found.inputs)
        every.decisions.extend(found.decisions)
        pairs.extend(compared(name, old.result, new.result, found.metrics))
        if old.result.status != new.result.status:
            states.append(specs.StateRow(name, "status", _state(old.result), _state(new.result)))
        labeled = first.label and len(names) == 1
        parts.append(_headline("" if labeled else name, old.result, new.result, found))
    tables = {
        "metrics_changed": specs.METRICS_CHANGED.table(every.metrics),
        "inputs_changed": specs.INPUTS_CHANGED.table(every.inputs),
        "decisions_changed": specs.DECISIONS_CHANGED.table(every.decisions),
        "states": specs.STATES.table(states),
        both.FIGURES_COMPARED.name: both.FIGURES_COMPARED.table(pairs.figures),
        both.PURCHASES_COMPARED.name: both.PURCHASES_COMPARED.table(pairs.purchases),
        both.QUARTERS_COMPARED.name: both.QUARTERS_COMPARED.table(pairs.quarters),
        both.SERVED_COMPARED.name: both.SERVED_COMPARED.table(pairs.served),
        both.RUNS_COMPARED.name: both.RUNS_COMPARED.table(pairs.runs),
    }
    return tables, parts


def _has(path: Path, variant: str) -> bool:
    """Whether a scenario has a variant; true if it does not load, which is reported later."""
    try:
        return variant in load(str(path)).scenario.scenarios
    except InputError:
        return True


def _renamed(ref: Ref, first: Ref, second: Ref) -> list[tuple[str, Path]]:
    """Return files by the name that both sides have in common.

    If each side has one file, the two files are a pair, even if their names differ.
    """
    single = all(len(r.files) <= 1 for r in (first, second))
    return [(_pair(first, second) if single else name, path) for name, path in ref.files.items()]


def _pair(first: Ref, second: Ref) -> str:
    names = [*second.files, *first.files]
    return names[0] if names else second.text


def _names(first: Ref, second: Ref) -> list[tuple[int, str]]:
    found = [
        (i, name)
        for i, ref in enumerate((first, second))
        for name, _ in _renamed(ref, first, second)
    ]
    found += [
        (i, _pair(first, second)) for i, ref in enumerate((first, second)) if ref.result is not None
    ]
    if not found:
        cause = f"neither {first.text} nor {second.text} names a scenario or a result"
        raise InputError([Problem("DC006", cause, Place("diff"))])
    return found


def _state(result: Result) -> str:
    return result.status if result.metrics else f"{result.status}: {result.headline}"


def _side(ref: Ref, kept: Kept | None) -> Side | None:
    if ref.result is not None:
        return Side(ref.result)
    return None if kept is None else Side(kept.result, kept.question)


def _shown(row: specs.InputChange, first: Ref, second: Ref) -> specs.InputChange:
    """Return an input whose places name the revision."""
    return replace(row, before_at=first.shown(row.before_at), after_at=second.shown(row.after_at))


def _headline(name: str, a: Result, b: Result, found: Differences) -> str:
    """Summarize the changes: cost, peak, and the number of inputs and decisions."""
    if not found:
        return f"{name} unchanged"
    words = []
    by = {row.metric: row for row in found.metrics}
    for spec, label in ((figures.NPV, "net present cost"), (figures.CAPEX, "capex")):
        row = by.get(spec.key)
        if row is not None and row.delta is not None:
            share = f" ({row.delta_frac:+.1%})" if row.delta_frac is not None else ""
            sign = "+" if row.delta > 0 else "-"
            words.append(
                f"{label} {sign}USD {money(abs(row.delta))}{share}"
                + (", within solver tolerance" if row.within_gap else "")
            )
    peak = by.get(figures.PEAK_FACILITY.key)
    if peak is not None and isinstance(peak.before, float) and isinstance(peak.after, float):
        words.append(f"peak {peak.before:.4g} to {peak.after:.4g} MW")
    if a.status != b.status:
        words.append(f"{a.status} to {b.status}")
    counts = (
        (len(found.inputs), "input"),
        (len(found.decisions), "decision"),
        (len(found.metrics), "figure"),
    )
    words.append(", ".join(f"{n} {word}{'s' * (n != 1)}" for n, word in counts) + " changed")
    return f"{name} {', '.join(words)}".strip()


def _first_parts(parts: list[str]) -> list[str]:
    changed = [p for p in parts if not p.endswith(" unchanged")]
    rest = len(parts) - len(changed)
    return [
        *changed[:3],
        *([f"{len(changed) - 3} more changed"] if len(changed) > 3 else []),
        *([f"{rest} unchanged"] if rest else []),
    ]


def _warnings(results: list[Result]) -> list[dict[str, str]]:
    """Return a note for each answer that is not proved."""
    open_ = [r for r in results if r.status not in ("ok", "expectation_failed")]
    return [{"code": "note", "message": f"{r.scenario.get('name')}: {r.headline}"} for r in open_]

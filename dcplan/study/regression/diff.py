"""``dcplan diff``: two references, each solved once, and what differs between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from dcplan.answers.diff.answer import DECISIONS, INPUTS, METRICS, Side, differences
from dcplan.errors import EXIT_NO, EXIT_OK, InputError, Place, Problem
from dcplan.result import Cell, Result, Table
from dcplan.scenario.load import load
from dcplan.study.engine.engines import Engine
from dcplan.study.regression.kept import Kept, Wanted, plans
from dcplan.study.regression.refs import Ref, resolved
from dcplan.study.store import Store
from dcplan.units import money

TABLES = {"metrics_changed": METRICS, "inputs_changed": INPUTS, "decisions_changed": DECISIONS}
STATES = ("scenario", "state", "before", "after")


def diff(  # noqa: PLR0913 - the flags of the verb
    before: str,
    after: str,
    home: Path,
    *,
    variant: str | None = None,
    sets: Sequence[str] = (),
    catalogs: Sequence[str] = (),
    gap: float = 0.005,
    time_limit_s: float = 120.0,
    engine: Engine | None = None,
    exit_code: bool = False,
    fresh: bool = False,
) -> Result:
    """Compare two answers: inputs, decisions and figures.

    Parameters
    ----------
    before, after : str
        A scenario, a folder of them, a saved result, ``git:REV`` or ``git:REV:path``.
    home : Path
        Where plans and revisions are kept.
    sets : sequence of str
        Changes of ``after`` alone: what they do is seen beside the scenario as it is.
    exit_code : bool
        End with 1 where something differs.

    Raises
    ------
    InputError
        When a reference names nothing, or a scenario is wrong.
    """
    first, second = resolved(before, after, home), resolved(after, before, home)
    if sets and second.result is not None:
        cause = f"{after} is a saved result: --set changes a scenario"
        raise InputError(
            [
                Problem(
                    "DC050", cause, Place("--set"), help="name the scenario that it was made from"
                )
            ]
        )
    if any(r.result is not None for r in (first, second)) and any(
        len(r.files) > 1 for r in (first, second)
    ):
        cause = "one saved result against a folder: name the scenario that it belongs to"
        raise InputError([Problem("DC006", cause, Place(f"{before} {after}"))])
    wanted = _wanted(first, second, variant, sets, (tuple(catalogs), gap, time_limit_s))
    if not wanted and not (first.result and second.result):
        cause = f"no scenario {variant!r} on either side"
        raise InputError([Problem("DC013", cause, Place("--scenario"))])
    try:
        kept = (
            plans(list(wanted.values()), Store(home / "plans"), engine, fresh=fresh)
            if wanted
            else {}
        )
    except InputError as error:
        raise second.told(first.told(error)) from error
    answers = {key: kept[w] for key, w in wanted.items()}
    tables, parts = _compared(first, second, answers)
    differs = any(table.rows for table in tables.values())
    many = "" if len(parts) <= 1 else f"{len(parts)} scenarios; "
    return Result(
        "diff",
        "ok",
        EXIT_NO if exit_code and differs else EXIT_OK,
        f"{before} against {after}: "
        + (many + "; ".join(_told(parts)) if differs else "no difference"),
        scenario={"name": f"{before}..{after}"},
        tables=tables,
        warnings=_warnings([one.result for one in answers.values()]),
    )


def _wanted(
    first: Ref,
    second: Ref,
    variant: str | None,
    sets: Sequence[str],
    options: tuple[tuple[str, ...], float, float],
) -> dict[tuple[int, str], Wanted]:
    """Plans of both sides by side and name; changes are of the second alone."""
    return {
        (side, name): Wanted(str(path), variant, tuple(sets) if side else (), *options)
        for side, ref in enumerate((first, second))
        for name, path in _renamed(ref, first, second)
        if variant is None or _has(path, variant)
    }


def _compared(
    first: Ref, second: Ref, answers: Mapping[tuple[int, str], Kept]
) -> tuple[dict[str, Table], list[str]]:
    """What differs, scenario by scenario, and a sentence on each."""
    rows: dict[str, list[tuple[Cell, ...]]] = {name: [] for name in (*TABLES, "states")}
    parts: list[str] = []
    for name in sorted({n for _, n in _names(first, second)}):
        old, new = (_side(ref, answers.get((i, name))) for i, ref in enumerate((first, second)))
        if old is None or new is None:
            state = "added" if old is None else "removed"
            rows["states"].append(
                (name, state, *("" if s is None else s.result.headline for s in (old, new)))
            )
            parts.append(f"{name} {state}")
            continue
        found = differences(name, old, new)
        for key, table in found.items():
            rows[key] += [_shown(key, row, first, second) for row in table.rows]
        if old.result.status != new.result.status:
            rows["states"].append((name, "status", _state(old.result), _state(new.result)))
        parts.append(_headline(name, old.result, new.result, found))
    columns = TABLES | {"states": STATES}
    return {name: Table(columns[name], tuple(found)) for name, found in rows.items()}, parts


def _has(path: Path, variant: str) -> bool:
    """Whether a scenario has a variant; one that does not load is told so later."""
    try:
        return variant in load(str(path)).scenario.scenarios
    except InputError:
        return True


def _renamed(ref: Ref, first: Ref, second: Ref) -> list[tuple[str, Path]]:
    """Files by the name under which both sides know them: one file beside one file is a pair,
    whatever its name.
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


def _shown(table: str, row: tuple[Cell, ...], first: Ref, second: Ref) -> tuple[Cell, ...]:
    """Places of a revision by its name."""
    if table != "inputs_changed":
        return row
    return (*row[:5], first.shown(str(row[5])), second.shown(str(row[6])))


def _headline(name: str, a: Result, b: Result, found: dict[str, Table]) -> str:
    """What changes for the reader: cost, peak, and how many inputs and decisions."""
    counts = {key: len(table.rows) for key, table in found.items()}
    if not any(counts.values()):
        return f"{name} unchanged"
    words = []
    by = {str(r["metric"]): r for r in found["metrics_changed"].records()}
    for key, label in (("cost.npv_usd", "net present cost"), ("cost.capex_usd", "capex")):
        row = by.get(key)
        if row is not None and isinstance(row["delta"], float):
            share = f" ({row['delta_frac']:+.1%})" if isinstance(row["delta_frac"], float) else ""
            words.append(
                f"{label} {'+' if row['delta'] > 0 else '-'}USD {money(abs(row['delta']))}{share}"
                + (", within gap" if row["within_gap"] else "")
            )
    peak = by.get("power.peak_facility_mw")
    if peak is not None and isinstance(peak["before"], float) and isinstance(peak["after"], float):
        words.append(f"peak {peak['before']:.4g} to {peak['after']:.4g} MW")
    if a.status != b.status:
        words.append(f"{a.status} to {b.status}")
    names = (
        ("inputs_changed", "input"),
        ("decisions_changed", "decision"),
        ("metrics_changed", "figure"),
    )
    words.append(
        ", ".join(f"{counts[k]} {word}{'s' * (counts[k] != 1)}" for k, word in names) + " changed"
    )
    return f"{name} " + ", ".join(words)


def _told(parts: list[str]) -> list[str]:
    changed = [p for p in parts if not p.endswith(" unchanged")]
    rest = len(parts) - len(changed)
    return [
        *changed[:3],
        *([f"{len(changed) - 3} more changed"] if len(changed) > 3 else []),
        *([f"{rest} unchanged"] if rest else []),
    ]


def _warnings(results: list[Result]) -> list[dict[str, str]]:
    """Answers that are not proved."""
    open_ = [r for r in results if r.status not in ("ok", "expectation_failed")]
    return [{"code": "note", "message": f"{r.scenario.get('name')}: {r.headline}"} for r in open_]

"""``dcplan validate SUBJECT``: published figures against what dcplan answers to the question."""

from __future__ import annotations

import importlib
import inspect
import math
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dcplan.answers.reference.catalog import catalog_show
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.published import read
from dcplan.catalog.schema import Model
from dcplan.catalog.schema.published import ARITHMETIC, SUBJECTS, Published
from dcplan.errors import EXIT_OK, InputError, Place, Problem, did_you_mean
from dcplan.provenance import Quantity
from dcplan.result import Cell, Metric, Result, Table
from dcplan.scenario.load import packaged_file
from dcplan.units import unit_of

ROOMS = ("economics", "facility", "fabric", "llm", "reliability", "training")
"""Rooms whose public functions a row may name: numbers in, numbers out."""
COLUMNS = (
    "id",
    "figure",
    "unit",
    "published",
    "published_low",
    "published_high",
    "computed",
    "low",
    "high",
    "error_frac",
    "verdict",
    "basis",
    "note",
)
ERROR, VERDICT, BASIS = (COLUMNS.index(c) for c in ("error_frac", "verdict", "basis"))
EXACT_FRAC = 0.005
"""Published figures are rounded: within half a percent they are the same number."""
CLOSE_FRAC = 0.05
NEAR_FRAC = 0.25
VERDICTS = ("exact", "close", "near", "far")
_CELL = re.compile(r"(\w+)\[(.+)\]\.(\w+)")


def published(
    subject: str, *, catalogs: Iterable[str] = (), progress: Callable[[str], None] | None = None
) -> Result:
    """Ask every question of a subject and compare.

    Parameters
    ----------
    subject : str
        fabric, pue, goodput, tco, claims or cases.
    catalogs : sequence of str
        Overlay folders; their ``published/*.yaml`` are compared too.
    progress : callable, optional
        Called with the id of each row before it is answered.

    Raises
    ------
    InputError
        When the subject is unknown, or a row asks for a figure that the answer does not have.
    """
    if subject not in SUBJECTS:
        known = ("training", *SUBJECTS)
        cause = f"nothing published about {subject!r}: one of {', '.join(known)}"
        raise InputError([Problem("DC050", cause, Place("SUBJECT"), did_you_mean(subject, known))])
    began = time.perf_counter()
    folders = tuple(catalogs)
    rows: list[tuple[Cell, ...]] = []
    sources: list[tuple[Cell, ...]] = []
    problems: list[Problem] = []
    questions = read(subject, tuple(Path(f) for f in folders))
    for row in questions:
        if progress is not None:
            progress(row.id)
        try:
            rows += _compared(row, folders)
        except InputError as error:
            problems += [_of_row(row.id, problem) for problem in error.problems]
        sources.append(
            (row.id, row.name, question(row), row.source.title, row.source.url, row.note)
        )
    if problems:
        raise InputError(problems)
    metrics = _metrics(rows)
    return Result(
        verb="validate",
        status="ok",
        exit_code=EXIT_OK,
        headline=_headline(subject, questions, metrics),
        metrics=metrics,
        tables={
            "figures": Table(COLUMNS, tuple(rows)),
            "sources": Table(("id", "name", "asked", "source", "url", "note"), tuple(sources)),
        },
        run={"seconds": round(time.perf_counter() - began, 4)},
    )


def _of_row(name: str, problem: Problem) -> Problem:
    """Name the row that a problem came from."""
    return (
        problem
        if problem.cause.startswith(name)
        else replace(problem, cause=f"{name}: {problem.cause}")
    )


def question(row: Published) -> str:
    """Write what is asked, as it may be typed.

    Examples
    --------
    >>> question(Published(id="a", name="a", source="some paper", subject="fabric", verb="fabric",
    ...                    ask={"nodes": 4, "fabric": "ib-ndr-400"}, figures={"leaf": 8}))
    'dcplan fabric --nodes 4 --fabric ib-ndr-400'
    """
    ask = dict(row.ask)
    if row.verb == "function":
        return f"{ask.pop('of', '')}({', '.join(f'{k}={v}' for k, v in ask.items())})"
    first = [str(ask.pop(k)) for k in ("scenario", "model", "kind", "id") if k in ask]
    flags = []
    for key, value in ask.items():
        name = {"sets": "set", "time_limit_s": "time-limit"}.get(key, key).replace("_", "-")
        several = value if isinstance(value, list) else [value]
        flags += [f"--{name}" if one is True else f"--{name} {one}" for one in several]
    verb = "catalog show" if row.verb == "catalog" else row.verb
    return " ".join(("dcplan", verb, *first, *flags))


def _compared(row: Published, folders: tuple[str, ...]) -> list[tuple[Cell, ...]]:
    """Compare the row's figures with the answer's; refuse all that the answer lacks at once."""
    found = _of_function(row) if row.verb == "function" else _of_verb(row, folders)
    rows: list[tuple[Cell, ...]] = []
    missing = []
    for key, said in row.figures.items():
        metric = found(key)
        if (
            metric is None
            or not isinstance(metric.value, int | float)
            or not math.isfinite(metric.value)
        ):
            missing.append(
                Problem("DC040", f"{row.id}: the answer has no number {key!r}", Place(row.id))
            )
            continue
        by = row.times.get(key, 1.0)
        value = metric.value * by
        error = value / said.value - 1.0 if said.value else None
        bounds = [b * by if b is not None else None for b in (metric.low, metric.high)]
        rows.append(
            (
                row.id,
                key,
                metric.unit,
                said.value,
                said.low,
                said.high,
                value,
                *bounds,
                error,
                verdict(said, value),
                row.basis(key),
                said.note,
            )
        )
    if missing:
        raise InputError(missing)
    return rows


def verdict(said: Quantity, value: float) -> str:
    """Judge a value by its distance from what was said.

    ``exact`` within half a percent or the published range, ``close`` within 5 %, ``near`` within
    25 %, else ``far``.

    Examples
    --------
    >>> [verdict(Quantity(value=100), v) for v in (100.4, 104, 80, 50)]
    ['exact', 'close', 'near', 'far']
    >>> verdict(Quantity(value=100, low=90, high=120), 119)
    'exact'
    """
    low, high = said.bounds
    if low < high and low <= value <= high:
        return "exact"
    off = abs(value - said.value) / abs(said.value) if said.value else float(value != 0.0)
    bands = ((EXACT_FRAC, "exact"), (CLOSE_FRAC, "close"), (NEAR_FRAC, "near"))
    return next((word for limit, word in bands if off <= limit), "far")


Lookup = Callable[[str], Metric | None]


def _of_verb(row: Published, folders: tuple[str, ...]) -> Lookup:
    result = _answered(row, folders)
    if row.verb == "catalog":
        fields = {r["field"]: r for r in result.tables["values"].records()}
        return lambda key: _field(fields.get(key))

    def lookup(key: str) -> Metric | None:
        cell = _CELL.fullmatch(key)
        if cell is None:
            return result.metrics.get(key)
        table = result.tables.get(cell[1])
        if table is None or cell[3] not in table.columns:
            return None
        value = next(
            (r[cell[3]] for r in table.records() if str(next(iter(r.values()))) == cell[2]), None
        )
        return Metric(value, unit_of(cell[3])) if isinstance(value, int | float) else None

    return lookup


def _answered(row: Published, folders: tuple[str, ...]) -> Result:
    """Ask the verb; a row names packaged examples and catalog ids, never files."""
    ask, known = dict(row.ask), not {"epw", "catalogs"} & set(row.ask)
    if "scenario" in ask:
        file = packaged_file(str(ask["scenario"]))
        known, ask["scenario"] = known and file is not None, file
    models = [str(ask[key]) for key in ("model", "job", "for_job") if ask.get(key) is not None]
    if models:
        catalog = load_catalog(tuple(Path(f) for f in folders))
        known &= all(catalog.find("models", name, Model) is not None for name in models)
    if not known:
        allowed = "packaged examples and catalog rows: no paths, no `epw`, no `catalogs`"
        cause = f"{row.id}: a row asks of {allowed}"
        help_text = "scenario: cases/frontier; model: llama-3.1-405b"
        raise InputError([Problem("DC010", cause, Place(row.id), help=help_text)])
    try:
        return _answers()[row.verb](**ask, catalogs=folders)
    except WRONG as error:
        raise InputError(
            [Problem("DC003", f"{row.id}: {row.verb}: {error}", Place(row.id))]
        ) from error


def _field(row: Mapping[str, Cell] | None) -> Metric | None:
    value = row["value"] if row else None
    if row is None or not isinstance(value, int | float):
        return None
    low, high = (x if isinstance(x, int | float) else None for x in (row["low"], row["high"]))
    return Metric(value, str(row["unit"] or ""), "", low, high)


def _of_function(row: Published) -> Lookup:
    """Ask a public function of a physics room with the row's numbers."""
    ask = dict(row.ask)
    name = str(ask.pop("of", ""))
    room, _, rest = name.partition(".")
    module, _, function = rest.rpartition(".")
    cause = f"{row.id}: {name!r} is no public function of {', '.join(ROOMS)}"
    problem = Problem("DC010", cause, Place(row.id), help="of: economics.loans.level_payment_usd")
    if (
        room not in ROOMS
        or not module.replace("_", "").replace(".", "").isalnum()
        or function.startswith("_")
    ):
        raise InputError([problem])
    try:
        found = getattr(importlib.import_module(f"dcplan.{room}.{module}"), function)
    except (ImportError, AttributeError) as error:
        raise InputError([problem]) from error
    if not inspect.isfunction(found) or not found.__module__.startswith(f"dcplan.{room}."):
        raise InputError([problem])
    value = _called(row, name, found, ask)

    def lookup(key: str) -> Metric | None:
        one = value if key == "result" else getattr(value, key, None)
        number = one.item() if isinstance(one, np.ndarray | np.generic) and one.size == 1 else one
        return Metric(float(number), "") if isinstance(number, int | float) else None

    return lookup


WRONG = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What numbers and names that do not fit a function end in; a row may come from anybody."""


def _called(row: Published, name: str, function: Callable[..., Any], ask: Mapping[str, Any]) -> Any:
    """Call the function; arguments that it lacks or cannot work with are the row's problem."""
    try:
        inspect.signature(function).bind(**ask)
    except TypeError as error:
        raise InputError([Problem("DC003", f"{row.id}: {name}: {error}", Place(row.id))]) from error
    try:
        given = {
            k: np.asarray(v, dtype=float) if isinstance(v, list) else v for k, v in ask.items()
        }
        with np.errstate(all="ignore"):
            return function(**given)
    except WRONG as error:
        cause = f"{row.id}: {name} with these arguments: {error or type(error).__name__}"
        raise InputError([Problem("DC040", cause, Place(row.id))]) from error


def _answers() -> dict[str, Callable[..., Result]]:
    from dcplan.answers.fabric.answer import fabric
    from dcplan.answers.facility.answer import facility
    from dcplan.answers.plan.answer import plan
    from dcplan.answers.tco.answer import tco
    from dcplan.answers.train.answer import train

    def show(kind: str, id: str, catalogs: tuple[str, ...] = ()) -> Result:
        return catalog_show(kind, id, catalogs)

    return {
        "plan": plan,
        "train": train,
        "fabric": fabric,
        "facility": facility,
        "tco": tco,
        "catalog": show,
    }


def _metrics(rows: list[tuple[Cell, ...]]) -> dict[str, Metric]:
    """Count verdicts and errors of the figures that verbs gave; those of functions are apart."""
    verified = [r for r in rows if r[BASIS] != ARITHMETIC]
    errors = np.array([r[ERROR] for r in verified if r[ERROR] is not None], dtype=float)
    verdicts = [r[VERDICT] for r in verified]
    labels = (
        "Within half a percent, or inside the published range",
        "Within 5 %",
        "Within 25 %",
        "Further off",
    )
    metrics = {"figures.total": Metric(len(verified), "", "Figures of verbs compared")}
    alone = [r[VERDICT] for r in verified if r[BASIS] == "independent"]
    metrics["figures.independent"] = Metric(
        len(alone), "", "Of them neither fitted to nor given by what is asked"
    )
    metrics["figures.independent_close"] = Metric(
        alone.count("exact") + alone.count("close"),
        "",
        "Of the independent ones exact or within 5 %",
    )
    metrics |= {
        f"figures.{w}": Metric(verdicts.count(w), "", label)
        for w, label in zip(VERDICTS, labels, strict=True)
    }
    metrics["figures.arithmetic"] = Metric(
        len(rows) - len(verified), "", "Further figures, of functions that no verb was asked for"
    )
    if errors.size:
        metrics["error.mean_abs_frac"] = Metric(
            float(np.abs(errors).mean()), "", "Mean absolute error"
        )
        metrics["error.median_abs_frac"] = Metric(
            float(np.median(np.abs(errors))), "", "Median absolute error"
        )
        metrics["error.bias_frac"] = Metric(float(errors.mean()), "", "Mean signed error")
    return metrics


def _headline(subject: str, questions: list[Published], metrics: Mapping[str, Metric]) -> str:
    counts = [(metrics[f"figures.{w}"].value, w) for w in VERDICTS]
    words = ", ".join(f"{n} {w}" for n, w in counts if n)
    alone, good = (metrics[f"figures.independent{x}"].value for x in ("", "_close"))
    asked = sum(row.verb != "function" for row in questions)
    every = f"{subject}: {metrics['figures.total'].value} figures of {asked} rows: {words}"
    share = f"of {alone} independent ones {good} exact or close" if alone else "none is independent"
    apart = metrics["figures.arithmetic"].value
    more = f"; {apart} more check the arithmetic of functions" if apart else ""
    return f"{every}; {share}{more}"

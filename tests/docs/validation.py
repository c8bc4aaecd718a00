"""Pages of docs/validation: their text is written by hand, what stands below the mark by the tool
itself."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from dcplan.answers.validation.measured_runs import validate
from dcplan.answers.validation.published import VERDICTS, published
from dcplan.report.numbers import shown
from dcplan.result import Cell, Result
from tests.docs.reference import table

MARK = "<!-- below: written by the tool (pytest tests/docs/test_validation.py -m slow --update-golden) -->"
WORST = 12
"""Runs with the largest errors that the page of training shows."""


OPEN, END = "<!-- accuracy: written by the tool -->", "<!-- /accuracy -->"
COMPARED = {
    "fabric": "networks of other designers, built ones, measured collectives",
    "pue": "sites and regions that report PUE or water",
    "goodput": "failures and run times of fleets and long runs",
    "tco": "worked examples of textbooks and public cost models",
    "cases": "sixteen clusters that exist, two designs",
}


def accuracy() -> str:
    """README's table: what dcplan was held against, and how far off it is."""
    runs = validate()
    stack = {r["stack"]: r for r in validate(by="stack").tables["summary"].records()}[
        "megatron-core"
    ]
    out = [
        (
            "604 measured training runs",
            f"mean step-time error {runs.value('error.mean_abs_frac'):.1%}, "
            f"median {runs.value('error.median_abs_frac'):.1%}, fitted to them",
        ),
        (
            "of them Megatron-Core",
            f"{stack['runs']} runs, mean {_number(stack['mean_abs_error_frac']):.1%}",
        ),
    ]
    for subject, what in COMPARED.items():
        result = published(subject)
        every = result.tables["figures"].records()
        rows = [f for f in every if f["basis"] == "independent"]
        counts = ", ".join(f"{sum(f['verdict'] == w for f in rows)} {w}" for w in VERDICTS)
        out.append((what, f"{len(rows)} figures: {counts}{_pue(rows) if subject == 'pue' else ''}"))
        if subject == "tco":
            taken = [abs(_number(f["error_frac"])) for f in every if f["basis"] == "fitted"]
            mean = sum(taken) / len(taken)
            out.append(
                (
                    "Epoch AI's estimates of known runs",
                    f"{len(taken)} figures, off by {mean:.0%} in the mean; some prices are Epoch's",
                )
            )
    return table(("held against", "result"), out)


def _pue(rows: Sequence[Mapping[str, Cell]]) -> str:
    """How far PUE is off, in points and of what is above 1: a twentieth of PUE is a third of a
    good one's overhead."""
    pairs = [
        (_number(f["published"]), _number(f["computed"]))
        for f in rows
        if str(f["figure"]).endswith("_pue")
    ]
    points = statistics.median(abs(b - a) for a, b in pairs)
    overhead = statistics.median(abs(b - a) / (a - 1.0) for a, b in pairs)
    return (
        f"; {len(pairs)} PUEs off by {points:.3f} in the median, {overhead:.0%} of their overhead"
    )


def below(subject: str) -> str:
    """What the tool writes under the mark of a subject's page."""
    return _training() if subject == "training" else _of(published(subject))


def _training() -> str:
    first = validate()
    out = [f"## All runs\n\n{first.headline}.\n", _figures(first)]
    for by in ("stack", "accelerator", "arch", "source"):
        found = validate(by=by).tables["summary"]
        out += [f"## By {by}\n", table(found.columns, [_row(found.columns, r) for r in found.rows])]
    runs = [r for r in first.tables["runs"].records() if r["error_frac"] is not None]
    worst = sorted(runs, key=lambda r: -abs(_number(r["error_frac"])))[:WORST]
    columns = (
        "id",
        "measured_step_time_s",
        "predicted_step_time_s",
        "low_s",
        "high_s",
        "error_frac",
    )
    out += [
        f"## The {WORST} worst\n",
        table(columns, [_row(columns, [r[c] for c in columns]) for r in worst]),
    ]
    return "\n".join(out)


def _of(result: Result) -> str:
    figures, sources = (result.tables[name].records() for name in ("figures", "sources"))
    counts = ", ".join(f"{result.metrics[f'figures.{w}'].value} {w}" for w in VERDICTS)
    out = [
        "## Figure by figure\n",
        f"{len(figures)} figures of {len(sources)} publications and designs: {counts}. Exact is within half a percent\n"
        "or inside the published range, close within 5 %, near within 25 %. *Fitted*: numbers or rules of dcplan were\n"
        "taken from it, or chosen or mended with it in view. *Given*: it follows from what is asked. Agreement in\n"
        "those proves the arithmetic alone.\n",
        _errors(figures),
    ]
    for source in sources:
        mine = [f for f in figures if f["id"] == source["id"]]
        where = f"[{source['source']}]({source['url']})" if source["url"] else str(source["source"])
        out.append(f"### {source['name']}\n")
        out.append(
            f"`{source['asked']}`\n\n{where}{'. ' + str(source['note']) if source['note'] else ''}\n"
        )
        out.append(
            table(
                ("figure", "published", "dcplan", "error", "verdict", "why"),
                [_figure(f) for f in mine],
            )
        )
    return "\n".join(out)


def _errors(figures: Sequence[Mapping[str, Cell]]) -> str:
    """Verdicts, mean and median error by what agreement proves."""
    rows = []
    for name in ("independent", "fitted", "given"):
        errors = sorted(
            abs(_number(f["error_frac"]))
            for f in figures
            if f["basis"] == name and f["error_frac"] is not None
        )
        if errors:
            middle = errors[len(errors) // 2]
            rows.append(
                (
                    name,
                    len(errors),
                    f"{sum(errors) / len(errors):.1%}",
                    f"{middle:.1%}",
                    f"{errors[-1]:.1%}",
                )
            )
    return table(("figures", "count", "mean error", "median error", "largest"), rows)


def _figure(f: Mapping[str, Cell]) -> tuple[str, ...]:
    low, high = f["published_low"], f["published_high"]
    said = _text(f, "published") + (
        f" ({_plain(low)} to {_plain(high)})" if low is not None or high is not None else ""
    )
    error = "" if f["error_frac"] is None else f"{_number(f['error_frac']):+.1%}"
    basis = "" if f["basis"] == "independent" else f", {f['basis']}"
    unit = f" {f['unit']}" if f["unit"] and f["unit"] != "fraction" else ""
    return (
        f"`{f['figure']}`",
        said + unit,
        _text(f, "computed") + unit,
        error,
        f"{f['verdict']}{basis}",
        str(f["note"] or ""),
    )


def _text(f: Mapping[str, Cell], column: str) -> str:
    return _plain(f[column])


def _plain(value: Cell) -> str:
    return (
        f"{value:,.5g}"
        if isinstance(value, float) and abs(value) < 1e5
        else f"{_number(value):,.0f}"
    )


def _number(value: Cell) -> float:
    assert isinstance(value, int | float)
    return float(value)


def _figures(result: Result) -> str:
    rows = [(f"`{k}`", shown(k, m.value), m.label) for k, m in result.metrics.items()]
    return table(("figure", "value", "meaning"), rows)


def _row(columns: Sequence[str], row: Sequence[Cell]) -> list[str]:
    return [shown(c, v) for c, v in zip(columns, row, strict=True)]

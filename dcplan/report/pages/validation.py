"""Validation pages: published figures compared with dcplan's answers, and counts of agreement."""

from __future__ import annotations

import functools
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence

from dcplan.answers.validation.answer import validate
from dcplan.answers.validation.published import VERDICTS
from dcplan.catalog.schema.published import ARITHMETIC
from dcplan.report.pages.page_text import MADE, number_of, page_table
from dcplan.report.pages.serving import serving_page
from dcplan.report.text.numbers import shown
from dcplan.result import Cell, Result

WORST = 12
"""Number of runs with the largest errors on the page of training."""
COMPARED = {
    "fabric": "reference designs, built networks and measured collectives",
    "pue": "sites and regions with reported PUE or water",
    "goodput": "failures and durations of fleets and long runs",
    "tco": "Epoch AI's estimates of known runs",
    "cases": "sixteen existing clusters, two designs",
    "runs": "published days and accelerator-hours of whole training runs",
    "demand": "statistics of recorded queues",
}
"""Subject -> its figures; claims have a separate page, ``docs/claims.md``."""
TITLES = {
    "fabric": "networks",
    "pue": "PUE and water",
    "goodput": "goodput and failures",
    "tco": "cost",
    "cases": "case studies",
    "runs": "whole runs",
    "demand": "demand from logs",
}
BASES = ("independent", "fitted", "given", ARITHMETIC)
"""Basis of a figure, which determines what agreement proves; no verb gives the last kind."""

Record = Mapping[str, Cell]


def accuracy() -> str:
    """Return the README's table: comparisons and the errors of dcplan."""
    runs = validate()
    stacks = {r["stack"]: r for r in validate(group_by="stack").tables["summary"].records()}
    core = stacks["megatron-core"]
    mean, median = (runs.value(f"error.{x}_abs_frac") for x in ("mean", "median"))
    rows = [
        (
            f"{runs.value('runs.supported'):,.0f} measured training runs",
            f"mean step-time error {mean:.1%}, median {median:.1%}, fitted to them",
        ),
        (
            "Megatron-Core runs among these",
            f"{core['runs']} runs, mean {number_of(core['mean_abs_error_frac']):.1%}",
        ),
    ]
    for subject, what in COMPARED.items():
        figures = _figures(subject)
        if subject == "tco":
            rows.append((what, _epoch(figures)))
            continue
        alone = [f for f in figures if f["basis"] == "independent"]
        if not alone:
            continue
        counts = ", ".join(f"{_count(alone, w)} {w}" for w in VERDICTS)
        overhead = _pue(alone) if subject == "pue" else ""
        rows.append((what, f"{len(alone)} figures: {counts}{overhead}"))
    return page_table(("compared with", "result"), rows)


def summary() -> str:
    """Return counts of every subject, by basis of the figures."""
    rows = []
    for subject in COMPARED:
        for basis in BASES:
            found = [f for f in _figures(subject) if f["basis"] == basis]
            if found:
                counts = [_count(found, w) for w in VERDICTS]
                rows.append((subject, basis, len(found), *counts, *_spread(found)))
    spread = ("mean error", "median", "largest")
    return page_table(("subject", "basis", "count", *VERDICTS, *spread), rows)


def whole_runs() -> str:
    """Return every whole run with dcplan's intervals, without and with its published course."""
    columns = ("run", "count", "published", "without its course", "", "with it", "", "cause")
    result = _published("runs")
    names = {row["id"]: str(row["name"]) for row in result.tables["sources"].records()}
    rows = [
        (
            names[row["id"]].partition(",")[0],
            f"{number_of(row['accelerators']):,.0f}",
            _days(row["published_days"]),
            *_interval(row, "plain_"),
            *(_interval(row, "") if row["course"] else ("", "")),
            row["cause"],
        )
        for row in result.tables["whole_runs"].records()
    ]
    counts = (result.value(f"whole_runs.{key}") for key in ("plain_inside", "inside", "total"))
    plain, inside, total = counts
    head = f"{inside:.0f} of {total:.0f} runs are inside the 80% interval, {plain:.0f} without their course."
    return f"{head}\n\n{page_table(columns, rows)}"


def _interval(row: Record, prefix: str) -> tuple[str, str]:
    """Return the median with its interval, and whether it holds the published days."""
    p10, p50, p90 = (_days(row[f"{prefix}days_p{q}"]) for q in (10, 50, 90))
    return f"{p50} ({p10} to {p90})", "in" if row[f"{prefix}inside"] else "out"


def _days(value: Cell) -> str:
    return f"{number_of(value):.3g}"


def training_page() -> str:
    """Write the errors of all measured training runs, by group, and the largest ones."""
    first = validate()
    figures = [(f"`{k}`", shown(k, m.value), m.label) for k, m in first.metrics.items()]
    out = [
        MADE + "# Every figure: training runs\n",
        f"{first.headline}.\n",
        page_table(("figure", "value", "meaning"), figures),
    ]
    for by in ("stack", "accelerator", "arch", "source"):
        found = validate(group_by=by).tables["summary"]
        out.append(f"## By {by}\n\n{_plain_table(found.columns, found.records())}")
    runs = [r for r in first.tables["runs"].records() if r["error_frac"] is not None]
    worst = sorted(runs, key=lambda r: -abs(number_of(r["error_frac"])))[:WORST]
    steps = ("measured_step_time_s", "predicted_step_time_s", "low_s", "high_s")
    out.append(f"## The {WORST} worst\n\n{_plain_table(('id', *steps, 'error_frac'), worst)}")
    return "\n".join(out)


def figure_page(subject: str) -> str:
    """Write every published figure of a subject with dcplan's answer."""
    return figures_of(_published(subject), TITLES[subject])


def figures_of(result: Result, title: str) -> str:
    """Write the figures of a validation result, source by source."""
    figures, sources = (result.tables[name].records() for name in ("figures", "sources"))
    verified = [f for f in figures if f["basis"] != ARITHMETIC]
    counts = ", ".join(f"{_count(verified, w)} {w}" for w in VERDICTS)
    apart = len(figures) - len(verified)
    more = f" {apart} more figures check the arithmetic of functions." if apart else ""
    out = [
        f"{MADE}# Every figure: {title}\n",
        f"{len(verified)} figures computed by verbs: {counts}.{more}\n[What dcplan is compared "
        "with](../index.md) explains the verdicts.\n",
    ]
    columns = ("figure", "published", "dcplan", "error", "verdict", "why")
    for source in sources:
        mine = [f for f in figures if f["id"] == source["id"]]
        where = f"[{source['source']}]({source['url']})" if source["url"] else str(source["source"])
        note = f". {source['note']}" if source["note"] else ""
        out.append(f"## {source['name']}\n\n`{source['asked']}`\n\n{where}{note}\n")
        out.append(page_table(columns, [_figure(f) for f in mine]))
    return "\n".join(out)


PAGES: dict[str, Callable[[], str]] = {
    "validation/figures/training.md": training_page,
    "validation/figures/serving.md": serving_page,
    **{f"validation/figures/{s}.md": functools.partial(figure_page, s) for s in COMPARED},
}
"""Path under ``docs/`` -> the function that writes the page."""

_published = functools.cache(validate)


def _figures(subject: str) -> list[dict[str, Cell]]:
    return _published(subject).tables["figures"].records()


def _count(figures: Iterable[Record], verdict: str) -> int:
    return sum(f["verdict"] == verdict for f in figures)


def _spread(figures: Iterable[Record]) -> tuple[str, str, str]:
    """Return the mean, median and largest error of figures that have one."""
    errors = [abs(number_of(f["error_frac"])) for f in figures if f["error_frac"] is not None]
    if not errors:
        return ("", "", "")
    return (
        f"{statistics.mean(errors):.1%}",
        f"{statistics.median(errors):.1%}",
        f"{max(errors):.1%}",
    )


def _epoch(figures: Iterable[Record]) -> str:
    """Return the difference from Epoch AI's estimates of known runs, without its own inputs."""
    estimates = (f for f in figures if str(f["id"]).startswith("epoch-") and f["basis"] != "given")
    taken = [abs(number_of(f["error_frac"])) for f in estimates]
    text = f"{len(taken)} figures, mean difference {statistics.mean(taken):.0%}"
    return f"{text}; some prices are Epoch's"


def _pue(figures: Sequence[Record]) -> str:
    """Return the median error of PUE, absolute and as a share of the overhead above 1.

    An error of 0.05 is a third of the overhead of a good PUE.
    """
    pairs = [
        (number_of(f["published"]), number_of(f["computed"]))
        for f in figures
        if str(f["figure"]).endswith("_pue")
    ]
    points = statistics.median(abs(b - a) for a, b in pairs)
    overhead = statistics.median(abs(b - a) / (a - 1.0) for a, b in pairs)
    return f"; median error of {len(pairs)} PUEs {points:.3f}, or {overhead:.0%} of their overhead"


def _figure(f: Record) -> tuple[str, ...]:
    low, high = f["published_low"], f["published_high"]
    unit = f" {f['unit']}" if f["unit"] and f["unit"] != "fraction" else ""
    bounds = f" ({_plain(low)} to {_plain(high)})" if (low, high) != (None, None) else ""
    basis = "" if f["basis"] == "independent" else f", {f['basis']}"
    return (
        f"`{f['figure']}`",
        f"{_plain(f['published'])}{bounds}{unit}",
        _plain(f["computed"]) + unit,
        "" if f["error_frac"] is None else f"{number_of(f['error_frac']):+.1%}",
        f"{f['verdict']}{basis}",
        str(f["note"] or ""),
    )


def _plain(value: Cell) -> str:
    number = number_of(value)
    small = isinstance(value, float) and abs(number) < 1e5
    return f"{number:,.5g}" if small else f"{number:,.0f}"


def _plain_table(columns: Sequence[str], records: Iterable[Record]) -> str:
    return page_table(columns, [[shown(c, r[c]) for c in columns] for r in records])

"""Charts of the report.

Matplotlib on paper-like axes, as SVG that takes the page's own text colour.
"""

from __future__ import annotations

import io
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from dcplan.report.html.marks import Mark, mark, mark_all, points, with_marks
from dcplan.report.text.numbers import plain
from dcplan.units import USD_PER_MUSD

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#123456"
"""Placeholder of the page's text color; inlining the picture replaces it."""
COLORS = ("#3b6fb0", "#b9772f", "#5b8c4a", "#8a5aa8", "#b04a4a", "#4a9a9a", "#8c8c3a", "#777777")
WIDTH_IN, HEIGHT_IN = 8.2, 3.2
LONGEST = 28
"""Characters of a name in a legend."""
LEGEND_ROW_IN, NARROW, WIDE = 0.22, 40, 85
"""Legend below a picture: height of a row; characters of a name in two columns, and in one."""
TINTS = (1.0, 0.78, 0.58, 0.4, 0.26, 0.14)
"""Opacity of the systems of one workload."""
RENTED = "rented accelerators"


@dataclass(frozen=True)
class Chart:
    """A picture, and what it says in words for those who do not see it."""

    title: str
    svg: str
    words: str


def _figure(height_in: float = HEIGHT_IN) -> tuple[Figure, Axes]:
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    settings: dict[str, Any] = {
        "svg.fonttype": "none",
        "font.family": "sans-serif",
        "font.size": 10,
        "text.color": INK,
        "axes.labelcolor": INK,
        "axes.edgecolor": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    with rc_context(settings):
        figure = Figure(figsize=(WIDTH_IN, height_in), layout="constrained")
        axes = figure.subplots()
    axes.patch.set_alpha(0.0)
    return figure, axes


def _svg(figure: Figure, name: str, words: str) -> str:
    """Return the picture with ids of its own, no size in points, and the page's colours."""
    from matplotlib import rc_context

    stream = io.StringIO()
    with rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        figure.savefig(
            stream, format="svg", transparent=True, metadata={"Date": None, "Creator": None}
        )
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = with_marks(re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL))
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
    text = re.sub(r' id="([^"]+)"', rf' id="{name}-\1"', text)
    text = re.sub(r'href="#', f'href="#{name}-', text)
    text = re.sub(r"url\(#", f"url(#{name}-", text)
    label = words.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    text = text.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
    return text.replace(INK, "currentColor")


def power(
    quarters: Sequence[str], facility: Mapping[str, Sequence[float]], limit: Sequence[float]
) -> Chart:
    """Facility power of each site on the design day, stacked, under all sites' firm grid."""
    figure, axes = _figure()
    base = [0.0] * len(quarters)
    for i, (site, values) in enumerate(facility.items()):
        bars = axes.bar(
            range(len(quarters)), values, bottom=base, color=COLORS[i % len(COLORS)], label=site
        )
        mark_all(bars, quarters, site, values, "MW")
        base = [b + v for b, v in zip(base, values, strict=True)]
    axes.step(
        range(len(quarters)), limit, where="mid", color=INK, linestyle="--", label="utility limit"
    )
    limits = [Mark(q, "utility limit", mw, "MW") for q, mw in zip(quarters, limit, strict=True)]
    points(axes, range(len(quarters)), limit, limits)
    _ruler(axes, quarters, "MW")
    top = max(base)
    words = (
        f"Facility power by quarter: at most {top:.1f} MW of {max(limit):.1f} MW from the utility"
    )
    return Chart("Power against the utility limit", _svg(figure, "power", words), words)


def capacity(quarters: Sequence[str], counts: Mapping[str, Sequence[float]]) -> Chart:
    """Accelerators in service by system and quarter."""
    figure, axes = _figure()
    base = [0.0] * len(quarters)
    for i, (system, values) in enumerate(counts.items()):
        bars = axes.bar(
            range(len(quarters)), values, bottom=base, color=COLORS[i % len(COLORS)], label=system
        )
        mark_all(bars, quarters, system, values, "accelerators")
        base = [b + v for b, v in zip(base, values, strict=True)]
    _ruler(axes, quarters, "accelerators")
    words = (
        f"Accelerators in service by quarter: {base[-1]:,.0f} in the last, at most {max(base):,.0f}"
    )
    return Chart("Capacity by quarter", _svg(figure, "capacity", words), words)


def paired(
    name: str,
    title: str,
    quarters: Sequence[str],
    bars: Mapping[str, Sequence[float]],
    lines: Mapping[str, Sequence[float]],
    unit: str,
    words: str,
) -> Chart:
    """Draw two answers by quarter as bars next to each other.

    Parameters
    ----------
    name : str
        Name of the picture in the page's ids.
    bars : mapping
        Values by the label of each answer.
    lines : mapping
        Further values, dashed: a limit, or sums to date; in the order of the bars.
    """
    figure, axes = _figure()
    places, width = range(len(quarters)), 0.8 / max(1, len(bars))
    for i, (label, values) in enumerate(bars.items()):
        at = [x + (i - (len(bars) - 1) / 2) * width for x in places]
        axes.bar(at, values, width, color=COLORS[i % len(COLORS)], label=label)
    for i, (label, values) in enumerate(lines.items()):
        color = COLORS[i % len(COLORS)] if len(lines) > 1 else INK
        axes.plot(
            places, values, color=color, linestyle="--", marker="o", markersize=3, label=label
        )
    _ruler(axes, quarters, unit)
    return Chart(title, _svg(figure, name, words), words)


def workloads(quarters: Sequence[str], series: Sequence[tuple[str, str, Sequence[float]]]) -> Chart:
    """Accelerators by quarter, stacked by workload and system: one color for each workload.

    ``series`` holds workload, system and accelerators by quarter. Rent, the system
    :data:`RENTED`, is hatched; an empty system is several workloads, or none.
    """
    labels = [_cut(f"{a} on {b}" if b else a, WIDE) for a, b, _ in series]
    columns = 2 if max(map(len, labels), default=0) <= NARROW else 1
    figure, axes = _figure(HEIGHT_IN + LEGEND_ROW_IN * -(-len(series) // columns))
    base, names = [0.0] * len(quarters), list(dict.fromkeys(x for x, y, _ in series if y))
    shown: dict[str, int] = defaultdict(int)
    for label, (workload, system, values) in zip(labels, series, strict=True):
        color = COLORS[names.index(workload) % (len(COLORS) - 1)] if system else "none"
        bars = axes.bar(
            range(len(quarters)),
            values,
            bottom=base,
            color="none" if system == RENTED else color,
            alpha=TINTS[shown[workload] % len(TINTS)] if system not in ("", RENTED) else 1.0,
            edgecolor=color if system == RENTED else INK,
            hatch="////" if system == RENTED else None,
            linewidth=0.4,
            label=label,
        )
        name = f"{workload} on {system}" if system else workload
        mark_all(bars, quarters, name, values, "accelerators")
        shown[workload] += system != RENTED
        base = [b + v for b, v in zip(base, values, strict=True)]
    figure.legend(
        *axes.get_legend_handles_labels(),
        frameon=False,
        fontsize=9,
        loc="outside lower left",
        ncols=columns,
        labelcolor=INK,
    )
    _ruler(axes, quarters, "accelerators", legend=False)
    sums: dict[str, float] = {}
    for workload, _, values in series:
        sums[workload] = sums.get(workload, 0.0) + sum(values) / len(quarters)
    words = "Average accelerators over the quarters: " + ", ".join(
        f"{name} {count:,.0f}" for name, count in sums.items()
    )
    return Chart("Workloads by system", _svg(figure, "workloads", words), words)


def waterfall(steps: Sequence[tuple[str, float]], total: str) -> Chart:
    """Parts of a cost one after the other, and their sum [USD]."""
    figure, axes = _figure()
    at = 0.0
    for i, (name, usd) in enumerate(steps):
        (bar,) = axes.bar(
            i,
            usd / USD_PER_MUSD,
            bottom=at / USD_PER_MUSD,
            color=COLORS[1] if usd >= 0 else COLORS[2],
        )
        mark(bar, Mark("", name, usd / USD_PER_MUSD, "M USD"))
        at += usd
    (bar,) = axes.bar(len(steps), at / USD_PER_MUSD, color=COLORS[0])
    mark(bar, Mark("", total, at / USD_PER_MUSD, "M USD"))
    axes.axhline(0.0, color=INK, linewidth=0.8)
    _ruler(axes, [*(name for name, _ in steps), total], "M USD", turned=True)
    words = ", ".join(f"{name} {usd / USD_PER_MUSD:,.1f}" for name, usd in steps)
    words = f"Cost in million USD: {words}; {total} {at / USD_PER_MUSD:,.1f}"
    return Chart("Where the money goes", _svg(figure, "waterfall", words), words)


def cash(quarters: Sequence[str], groups: Mapping[str, Sequence[float]]) -> Chart:
    """Payments by group and quarter, and their running sum."""
    figure, axes = _figure()
    up, down = [0.0] * len(quarters), [0.0] * len(quarters)
    for i, (group, values) in enumerate(groups.items()):
        base = [u if v >= 0 else d for u, d, v in zip(up, down, values, strict=True)]
        heights = [v / USD_PER_MUSD for v in values]
        bars = axes.bar(
            range(len(quarters)), heights, bottom=base, color=COLORS[i % len(COLORS)], label=group
        )
        mark_all(bars, quarters, group, heights, "M USD")
        up = [u + max(h, 0.0) for u, h in zip(up, heights, strict=True)]
        down = [d + min(h, 0.0) for d, h in zip(down, heights, strict=True)]
    running, sums = 0.0, []
    for t in range(len(quarters)):
        running += sum(values[t] for values in groups.values()) / USD_PER_MUSD
        sums.append(running)
    axes.plot(range(len(quarters)), sums, color=INK, marker="o", markersize=3, label="running sum")
    sofar = [Mark(q, "running sum", usd, "M USD") for q, usd in zip(quarters, sums, strict=True)]
    points(axes, range(len(quarters)), sums, sofar)
    _ruler(axes, quarters, "M USD")
    words = f"Payments by quarter: {sums[-1]:,.1f} million USD in all"
    return Chart("Cash flow", _svg(figure, "cash", words), words)


def gantt(runs: Sequence[tuple[str, float, float, float, float]], start: str) -> Chart:
    """Return runs from their start to the median end [days].

    With the range from the 10th to the 90th percentile.
    """
    figure, axes = _figure(1.0 + 0.42 * len(runs))
    for i, (name, begins, p10, p50, p90) in enumerate(runs):
        (bar,) = axes.barh(i, p50, left=begins, color=COLORS[0], height=0.5)
        more = f", from day {begins:.0f}; 10th to 90th percentile {p10:.0f} to {p90:.0f} days"
        mark(bar, Mark("", name, p50, "days", more))
        axes.plot([begins + p10, begins + p90], [i, i], color=INK, linewidth=2, marker="|")
    axes.set_yticks(range(len(runs)), [name for name, *_ in runs])
    axes.invert_yaxis()
    axes.set_xlabel(f"days from the first of {start}")
    words = "; ".join(
        f"{name}: {p50:.0f} days, 10th to 90th percentile {p10:.0f} to {p90:.0f}"
        for name, _, p10, p50, p90 in runs
    )
    return Chart("Training runs", _svg(figure, "gantt", words), words)


def tornado(rows: Sequence[tuple[str, float, float]], now: float, what: str) -> Chart:
    """Return what each input does to a figure between its bounds, the widest first [USD]."""
    figure, axes = _figure(1.0 + 0.32 * len(rows))
    for i, (name, low, high) in enumerate(rows):
        for bound, value, color in (("low", low, COLORS[2]), ("high", high, COLORS[1])):
            change = (value - now) / USD_PER_MUSD
            (bar,) = axes.barh(i, change, color=color, height=0.6)
            mark_all([bar], [f"at its {bound} bound"], name, [change], "M USD")
    axes.axvline(0.0, color=INK, linewidth=0.8)
    axes.set_yticks(range(len(rows)), [name for name, _, _ in rows])
    axes.invert_yaxis()
    axes.set_xlabel(f"change of {what}, M USD")
    words = "; ".join(
        f"{n}: {(a - now) / USD_PER_MUSD:+.1f} to {(b - now) / USD_PER_MUSD:+.1f}"
        for n, a, b in rows[:5]
    )
    words = f"Change of {what} in million USD with each input at its low (green) and high (brown) bound: {words}"
    return Chart("What decides", _svg(figure, "tornado", words), words)


def frontier(found: Sequence[tuple[float, float]], x: str, y: str) -> Chart:
    """Best of one figure for each value of the other."""
    figure, axes = _figure()
    axes.plot([a for a, _ in found], [b for _, b in found], color=COLORS[0], marker="o")
    each = [Mark(f"{x} {plain(a)}", "", b, y) for a, b in found]
    points(axes, [a for a, _ in found], [b for _, b in found], each)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    words = f"{len(found)} points of {x} against {y}"
    return Chart("Frontier", _svg(figure, "frontier", words), words)


def cumulative(paid: Mapping[str, Sequence[float]]) -> Chart:
    """Draw running sums of monthly payments [USD]; the first series is owning, the others are rents.

    The words name the month from which each rent has cost more than owning, to the end.
    """
    figure, axes = _figure()
    sums = {name: [x / USD_PER_MUSD for x in accumulate(values)] for name, values in paid.items()}
    for i, (name, values) in enumerate(sums.items()):
        width = 2.5 if i == 0 else 1.5
        axes.plot(range(len(values)), values, COLORS[i], label=name, linewidth=width)
        each = [Mark(f"month {m}", name, usd, "M USD") for m, usd in enumerate(values, 1)]
        points(axes, range(len(values)), values, each)
    (_, owned), *rents = sums.items()
    said = []
    for name, values in rents:
        month = lasting_from(owned, values)
        found = (
            "never costs more than owning" if month is None else f"costs more from month {month}"
        )
        said.append(f"{name} {found}")
        if month is not None:
            axes.plot(month - 1, values[month - 1], color=INK, marker="o", markersize=4)
    months = [str(month) for month in range(1, len(owned) + 1)]
    _ruler(axes, months, "USD M paid", legend=False)
    axes.set_xlabel("month")
    axes.legend(frameon=False, fontsize=9, loc="upper left", labelcolor=INK)
    words = f"Cumulative cash after tax, without resale; {'; '.join(said)}"
    return Chart("Break-even in cash", _svg(figure, "cumulative", words), words)


def lasting_from(owned: Sequence[float], rent: Sequence[float]) -> int | None:
    """Return the first month from which a rent has cost more than owning, to the end.

    Examples
    --------
    >>> lasting_from([5.0, 5.0, 6.0], [2.0, 6.0, 8.0]), lasting_from([5.0, 9.0], [6.0, 7.0])
    (2, None)
    """
    month = None
    for i, (own, other) in enumerate(zip(owned, rent, strict=True), 1):
        month = (month or i) if other > own else None
    return month


def _cut(name: str, most: int) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def _ruler(
    axes: Axes, names: Sequence[str], unit: str, *, turned: bool = False, legend: bool = True
) -> None:
    every = max(1, len(names) // 12)
    shown = [i for i in range(len(names)) if i % every == 0]
    labels = [names[i] for i in shown]
    axes.set_xticks(
        shown,
        labels,
        rotation=30 if turned or len(labels) > 8 else 0,
        ha="right" if turned else "center",
    )
    axes.set_ylabel(unit)
    if legend and axes.get_legend_handles_labels()[1]:
        handles, names = axes.get_legend_handles_labels()
        short = [_cut(name, LONGEST) for name in names]
        axes.legend(
            handles,
            short,
            frameon=False,
            fontsize=9,
            loc="upper left",
            bbox_to_anchor=(1.0, 1.0),
            labelcolor=INK,
        )

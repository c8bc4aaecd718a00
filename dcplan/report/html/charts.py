"""Pictures of costs, runs and trade-offs: waterfall, runs, tornado, frontier, cumulative cash."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

from dcplan.report.html.canvas import COLORS, INK, Chart, new_figure, ruler, svg_of
from dcplan.report.html.marks import Mark, mark, mark_all, points
from dcplan.report.text.numbers import plain
from dcplan.units import USD_PER_MUSD


def waterfall(steps: Sequence[tuple[str, float]], total: str) -> Chart:
    """Parts of a cost one after the other, and their sum [USD]."""
    figure, axes = new_figure()
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
    ruler(axes, [*(name for name, _ in steps), total], "M USD", turned=True)
    words = ", ".join(f"{name} {usd / USD_PER_MUSD:,.1f}" for name, usd in steps)
    words = f"Cost in million USD: {words}; {total} {at / USD_PER_MUSD:,.1f}"
    return Chart("Where the money goes", svg_of(figure, "waterfall", words), words)


def gantt(runs: Sequence[tuple[str, float, float, float, float]], start: str) -> Chart:
    """Return runs from their start to the median end [days].

    With the range from the 10th to the 90th percentile.
    """
    figure, axes = new_figure(1.0 + 0.42 * len(runs))
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
    return Chart("Training runs", svg_of(figure, "gantt", words), words)


def tornado(rows: Sequence[tuple[str, float, float]], now: float, what: str) -> Chart:
    """Return what each input does to a figure between its bounds, the widest first [USD]."""
    figure, axes = new_figure(1.0 + 0.32 * len(rows))
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
    return Chart("What decides", svg_of(figure, "tornado", words), words)


def frontier(found: Sequence[tuple[float, float]], x: str, y: str) -> Chart:
    """Best of one figure for each value of the other."""
    figure, axes = new_figure()
    axes.plot([a for a, _ in found], [b for _, b in found], color=COLORS[0], marker="o")
    each = [Mark(f"{x} {plain(a)}", "", b, y) for a, b in found]
    points(axes, [a for a, _ in found], [b for _, b in found], each)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    words = f"{len(found)} points of {x} against {y}"
    return Chart("Frontier", svg_of(figure, "frontier", words), words)


def cumulative(paid: Mapping[str, Sequence[float]]) -> Chart:
    """Draw running sums of monthly payments [USD]; the first series is owning, the others are rents.

    The words name the month from which each rent has cost more than owning, to the end.
    """
    figure, axes = new_figure()
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
    ruler(axes, [str(month) for month in range(1, len(owned) + 1)], "USD M paid")
    step = 12 if len(owned) >= 24 else 3
    ends = range(step, len(owned) + 1, step)
    axes.set_xticks([end - 1 for end in ends], [str(end) for end in ends], rotation=0)
    axes.set_xlabel("month")
    words = f"Cumulative cash after tax, without resale; {'; '.join(said)}"
    return Chart("Break-even in cash", svg_of(figure, "cumulative", words), words)


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

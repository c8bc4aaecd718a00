"""Pictures of a plan by quarter: power, fleet, workloads and cash, with a legend below."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from dcplan.report.html.canvas import COLORS, INK, WIDE, Chart, cut, new_figure, ruler, svg_of
from dcplan.report.html.marks import Mark, mark_all, points
from dcplan.units import USD_PER_MUSD

TINTS = (1.0, 0.78, 0.58, 0.4, 0.26, 0.14)
"""Opacity of the systems of one workload."""
RENTED = "rented accelerators"


def power(
    quarters: Sequence[str], facility: Mapping[str, Sequence[float]], limit: Sequence[float]
) -> Chart:
    """Facility power of each site on the design day, stacked, under all sites' firm grid."""
    figure, axes = new_figure()
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
    ruler(axes, quarters, "MW")
    top = max(base)
    words = (
        f"Facility power by quarter: at most {top:.1f} MW of {max(limit):.1f} MW from the utility"
    )
    return Chart("Power against the utility limit", svg_of(figure, "power", words), words)


def capacity(quarters: Sequence[str], counts: Mapping[str, Sequence[float]]) -> Chart:
    """Accelerators in service by system and quarter; the system :data:`RENTED` is hatched."""
    figure, axes = new_figure()
    base = [0.0] * len(quarters)
    for i, (system, values) in enumerate(counts.items()):
        rented = system == RENTED
        bars = axes.bar(
            range(len(quarters)),
            values,
            bottom=base,
            color="none" if rented else COLORS[i % len(COLORS)],
            edgecolor=INK if rented else "none",
            hatch="////" if rented else None,
            linewidth=0.4,
            label=system,
        )
        mark_all(bars, quarters, system, values, "accelerators")
        base = [b + v for b, v in zip(base, values, strict=True)]
    ruler(axes, quarters, "accelerators")
    words = (
        f"Accelerators in service by quarter: {base[-1]:,.0f} in the last, at most {max(base):,.0f}"
    )
    return Chart("Capacity by quarter", svg_of(figure, "capacity", words), words)


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
    figure, axes = new_figure()
    places, width = range(len(quarters)), 0.8 / max(1, len(bars))
    for i, (label, values) in enumerate(bars.items()):
        at = [x + (i - (len(bars) - 1) / 2) * width for x in places]
        axes.bar(at, values, width, color=COLORS[i % len(COLORS)], label=label)
    for i, (label, values) in enumerate(lines.items()):
        color = COLORS[i % len(COLORS)] if len(lines) > 1 else INK
        axes.plot(
            places, values, color=color, linestyle="--", marker="o", markersize=3, label=label
        )
    ruler(axes, quarters, unit)
    return Chart(title, svg_of(figure, name, words), words)


def workloads(quarters: Sequence[str], series: Sequence[tuple[str, str, Sequence[float]]]) -> Chart:
    """Accelerators by quarter, stacked by workload and system: one color for each workload.

    ``series`` holds workload, system and accelerators by quarter. Rent, the system
    :data:`RENTED`, is hatched; an empty system is several workloads, or none.
    """
    labels = [cut(f"{a} on {b}" if b else a, WIDE) for a, b, _ in series]
    figure, axes = new_figure()
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
    ruler(axes, quarters, "accelerators")
    sums: dict[str, float] = {}
    for workload, _, values in series:
        sums[workload] = sums.get(workload, 0.0) + sum(values) / len(quarters)
    words = "Average accelerators over the quarters: " + ", ".join(
        f"{name} {count:,.0f}" for name, count in sums.items()
    )
    return Chart("Workloads by system", svg_of(figure, "workloads", words), words)


def cash(quarters: Sequence[str], groups: Mapping[str, Sequence[float]]) -> Chart:
    """Payments by group and quarter, and their running sum."""
    figure, axes = new_figure()
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
    ruler(axes, quarters, "M USD")
    words = f"Payments by quarter: {sums[-1]:,.1f} million USD in all"
    return Chart("Cash flow", svg_of(figure, "cash", words), words)

"""What every picture of the report has in common: paper-like axes of Matplotlib, saved as SVG.

The picture takes the page's own text color.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dcplan.report.html.marks import with_marks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#123456"
"""Placeholder of the page's text color; inlining the picture replaces it."""
COLORS = ("#3b6fb0", "#b9772f", "#5b8c4a", "#8a5aa8", "#b04a4a", "#4a9a9a", "#8c8c3a", "#777777")
WIDTH_IN, HEIGHT_IN = 8.2, 3.2
LEGEND_ROW_IN, WIDE = 0.22, 85
"""Legend below a picture: height of a row, most characters of a name."""
COLUMNS = ((4, 20), (3, 28), (2, 40))
"""Columns of a legend, by the characters of its longest name; one column for longer names."""


@dataclass(frozen=True)
class Chart:
    """A picture, and what it says in words for those who do not see it."""

    title: str
    svg: str
    words: str


def new_figure(height_in: float = HEIGHT_IN) -> tuple[Figure, Axes]:
    """Return an empty picture and its axes, in the text color of the page."""
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


def svg_of(figure: Figure, name: str, words: str) -> str:
    """Return the picture with ids of its own, no size in points, and the page's colours."""
    from matplotlib import rc_context

    stream = io.StringIO()
    with rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}), warnings.catch_warnings():
        # the browser has the glyphs that the font of the measurement lacks
        warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
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


def cut(name: str, most: int) -> str:
    """Return a name with at most so many characters."""
    return name if len(name) <= most else name[: most - 1] + "…"


def ruler(
    axes: Axes, names: Sequence[str], unit: str, *, turned: bool = False, legend: bool = True
) -> None:
    """Name the places on the horizontal axis and the unit of the other, and write the legend."""
    every = max(1, len(names) // 12)
    shown = [i for i in range(len(names)) if i % every == 0]
    labels = [names[i] for i in shown]
    axes.set_xticks(
        shown,
        labels,
        rotation=30 if turned or len(labels) > 9 else 0,
        ha="right" if turned else "center",
    )
    axes.yaxis.set_major_formatter("{x:,.10g}")
    axes.set_ylabel(unit)
    if legend:
        legend_below(axes)


def legend_below(axes: Axes) -> None:
    """Write the legend below the picture, which grows by its rows."""
    handles, names = axes.get_legend_handles_labels()
    if not names:
        return
    longest = max(map(len, names))
    columns = next((n for n, most in COLUMNS if longest <= most), 1)
    figure = axes.figure
    rows = -(-len(names) // columns)
    figure.set_figheight(figure.get_figheight() + LEGEND_ROW_IN * rows)  # type: ignore[union-attr] # no subfigure
    figure.legend(
        handles,
        [cut(name, WIDE) for name in names],
        frameon=False,
        fontsize=9,
        loc="outside lower left",
        ncols=columns,
        labelcolor=INK,
    )

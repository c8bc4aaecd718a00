"""Values of the marks of a chart: what a bar or a point says when it is pointed at.

A mark carries its text as ``<title>``, which every browser shows without a script. The script of
the page reads the same title and the ``data-`` attributes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from dcplan.report.text.numbers import plain, printable

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

ONE, MANY = "mark:", "marks:"
"""Beginning of the id that carries one mark, or the marks of the points of a line."""
HIT_PT = 12
"""Size of the invisible mark around a point of a line."""


@dataclass(frozen=True)
class Mark:
    """One bar or point: where it is, what it is of, its value in the unit of the axis."""

    at: str
    series: str
    value: float
    unit: str
    more: str = ""

    @property
    def text(self) -> str:
        """What is shown.

        Examples
        --------
        >>> Mark("2027-Q1", "frankfurt", 1.5400376, "MW").text
        '2027-Q1, frankfurt: 1.54 MW'
        """
        names = ", ".join(x for x in (self.at, self.series) if x)
        return f"{names}: {plain(self.value)} {self.unit}{self.more}"


def mark(artist: Artist, it: Mark) -> None:
    """Give an artist the values that it shows."""
    artist.set_gid(ONE + quote(json.dumps(astuple(it))))


def mark_all(
    artists: Sequence[Artist], at: Sequence[str], series: str, values: Sequence[float], unit: str
) -> None:
    """Mark the bars of one series; a bar of no height has nothing to point at."""
    for artist, name, value in zip(artists, at, values, strict=True):
        if value:
            mark(artist, Mark(name, series, float(value), unit))


def points(axes: Axes, x: Sequence[float], y: Sequence[float], marks: Sequence[Mark]) -> None:
    """Lay invisible marks over the points of a line."""
    (line,) = axes.plot(x, y, color="#000000", linestyle="none", marker="o", markersize=HIT_PT)
    line.set_alpha(0.0)
    line.set_gid(MANY + quote(json.dumps([astuple(it) for it in marks])))


def with_marks(svg: str) -> str:
    """Return the picture with ids of marks replaced by attributes and titles."""
    svg = re.sub(rf'<g id="{ONE}([^"]*)">', _opened, svg)
    return re.sub(rf'<g id="{MANY}([^"]*)">(.*?)</g>', _all_opened, svg, flags=re.DOTALL)


def _opened(found: re.Match[str]) -> str:
    it = Mark(*json.loads(unquote(found[1])))
    return f"<g {_attributes(it)}>{_title(it)}"


def _all_opened(found: re.Match[str]) -> str:
    marks = iter([Mark(*x) for x in json.loads(unquote(found[1]))])

    def one(use: re.Match[str]) -> str:
        it = next(marks)
        return f"<use {_attributes(it)}{use[1]}>{_title(it)}</use>"

    return f"<g>{re.sub(r'<use([^>]*?)/>', one, found[2])}</g>"


def _attributes(it: Mark) -> str:
    pairs = {"at": it.at, "series": it.series, "value": repr(it.value), "unit": it.unit}
    said = " ".join(f'data-{k}="{escape(printable(v))}"' for k, v in pairs.items())
    return f'class="mark" {said}'


def _title(it: Mark) -> str:
    return f"<title>{escape(printable(it.text))}</title>"

"""Parts of a generated page: its first line and its tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dcplan.result import Cell

MADE = "<!-- written by `make docs` from the code and the catalogs -->\n"
"""First line of a generated page."""


def page_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""Return a Markdown table; characters that would break a cell are escaped.

    Examples
    --------
    >>> print(page_table(("a", "b"), [(1, "x|y"), (None, "<z>")]), end="")
    | a | b |
    |---|---|
    | 1 | x\|y |
    |  | &lt;z> |
    """
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(_cell(c) for c in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def number_of(value: Cell) -> float:
    """Return the number of a cell.

    Raises
    ------
    TypeError
        When the cell has no number.
    """
    if not isinstance(value, int | float):
        raise TypeError(value)
    return float(value)


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")

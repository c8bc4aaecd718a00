"""What the points of a frontier prove together: bounds of looser limits, and points that others beat."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dcplan.planning.solve.status import SolveStatus
from dcplan.study.frontier.point import SLACK
from dcplan.study.frontier.steps import Document
from dcplan.study.point import SCREENED

OPEN = (SCREENED, SolveStatus.LIMIT)
"""Statuses of points with a gap above the requested one."""


def with_common_bounds(points: Sequence[Document], gap: float) -> list[Document]:
    r"""Return the points with the highest bound of all looser limits.

    A plan that satisfies a limit satisfies each looser one: :math:`b_i = \max_{j \le i} b_j`.

    Parameters
    ----------
    points : sequence of documents
        Points with and without a plan, the loosest limit first.
    gap : float
        Gap at which a point counts as proved.

    Examples
    --------
    >>> loose = {"x": 10.0, "bound": 9.9, "gap_frac": 0.01, "status": "optimal"}
    >>> tight = {"x": 10.1, "bound": 9.0, "gap_frac": 0.11, "status": "screened"}
    >>> found = with_common_bounds([loose, tight], 0.02)[1]
    >>> found["status"], round(found["gap_frac"], 4)
    ('optimal', 0.0198)
    """
    found: list[Document] = []
    bound = -math.inf
    for d in points:
        if d.get("x") is None:
            found.append(d)
            continue
        bound = max(bound, d["bound"])
        open_frac = max(0.0, d["x"] - bound) / max(abs(d["x"]), 1e-6)
        proved = d["status"] in OPEN and open_frac <= gap
        status = str(SolveStatus.OPTIMAL) if proved else d["status"]
        found.append({**d, "gap_frac": min(open_frac, d["gap_frac"]), "status": status})
    return found


def undominated(points: Sequence[Document]) -> list[Document]:
    """Return the points that no other point beats; of equal points, the first stays.

    A point beats another one if it is no worse in both metrics. Points without a plan stay.

    Examples
    --------
    >>> [d["x"] for d in undominated([{"x": 1.0, "y": 3.0}, {"x": 2.0, "y": 2.0}, {"x": 1.5, "y": 2.0}])]
    [1.0, 1.5]
    """
    return [
        d
        for i, d in enumerate(points)
        if not any(_beats(other, d, first=j < i) for j, other in enumerate(points) if j != i)
    ]


def _beats(other: Document, one: Document, *, first: bool) -> bool:
    """Return whether another point is no worse in both metrics; of equal ones only the first beats."""
    if other.get("x") is None or one.get("x") is None:
        return False
    return _no_worse(other, one) and (first or not _no_worse(one, other))


def _no_worse(one: Document, other: Document) -> bool:
    return all(one[k] <= other[k] + SLACK * max(abs(other[k]), 1.0) for k in ("x", "y"))

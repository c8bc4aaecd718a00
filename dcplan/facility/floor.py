"""Layout of racks in rows.

Kinds are mixed evenly, with distribution units at the ends and network in the middle.
"""

from __future__ import annotations

import math
from collections.abc import Mapping


def rows_of(racks: Mapping[str, int], per_row: int) -> tuple[dict[str, int], ...]:
    r"""Return the racks of each kind in each row, with an equal share of every kind.

    Rack j of a kind with c racks has the position :math:`(j + 1/2) / c` in the sequence;
    the sequence is divided into rows.

    Parameters
    ----------
    racks : mapping
        Kind -> racks, not negative.
    per_row : int
        Positions per row, at least 1.

    Examples
    --------
    >>> rows_of({"compute": 6, "network": 2}, 4)
    ({'compute': 3, 'network': 1}, {'compute': 3, 'network': 1})
    """
    order = sorted(((j + 0.5) / count, kind) for kind, count in racks.items() for j in range(count))
    cuts = [order[i : i + per_row] for i in range(0, len(order), per_row)]
    return tuple(
        {kind: n for kind in racks if (n := sum(k == kind for _, k in cut))} for cut in cuts
    )


def line_up(row: Mapping[str, int], ends: str, middle: str) -> tuple[str, ...]:
    """Return the kinds along a row: ``ends`` at both ends, ``middle`` in the middle.

    Other kinds are in between.

    Examples
    --------
    >>> line_up({"compute": 4, "network": 1, "cdu": 2}, "cdu", "network")
    ('cdu', 'compute', 'compute', 'network', 'compute', 'compute', 'cdu')
    """
    rest = [kind for kind, n in row.items() for _ in range(n) if kind not in (ends, middle)]
    half = math.ceil(len(rest) / 2)
    first = math.ceil(row.get(ends, 0) / 2)
    inner = rest[:half] + [middle] * row.get(middle, 0) + rest[half:]
    return (*[ends] * first, *inner, *[ends] * (row.get(ends, 0) - first))


def area_m2(
    rows: int, per_row: int, rack_pitch_m: float, row_pitch_m: float, margin_m: float
) -> float:
    r"""Return the floor area of rows and the aisle around them: :math:`(n\,p_{rack} + 2m)(r\,p_{row} + 2m)`.

    Examples
    --------
    >>> area_m2(10, 16, 0.6, 3.0, 2.0)
    462.4
    """
    return round(
        (per_row * rack_pitch_m + 2.0 * margin_m) * (rows * row_pitch_m + 2.0 * margin_m), 6
    )


def room_m2(count: int, footprint_m2: float, clearance_m: float) -> float:
    r"""Return the area of equal square units that share the space between them.

    .. math:: A = n\,(\sqrt{f} + c)^2

    Parameters
    ----------
    count : int
        Units, not negative.
    footprint_m2 : float
        Footprint f of one unit, not negative. [m2]
    clearance_m : float
        Space c between two units. [m]

    Examples
    --------
    >>> room_m2(3, 4.0, 1.0)
    27.0
    """
    return count * (math.sqrt(footprint_m2) + clearance_m) ** 2

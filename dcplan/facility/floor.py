"""Layout of racks in rows.

Kinds are mixed evenly, with distribution units at the ends and network in the middle.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from dcplan.units import W_PER_KW


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


def m2_per_kw(compute_kw: float, other_kw: float, other_frac: float, position_m2: float) -> float:
    r"""Return the area of rack positions and aisles over IT power.

    .. math:: \frac{A}{P} = a \left(\frac{1 - s}{k} + \frac{s}{k_o}\right)

    Parameters
    ----------
    compute_kw, other_kw : float
        Power k of a compute rack, and k_o of a rack of network or storage, above 0. [kW]
    other_frac : float
        Share s of IT power in network and storage, from 0 to 1. [-]
    position_m2 : float
        Area a of one position with its part of the aisles, not negative. [m2]

    Examples
    --------
    GB300 NVL72 of 135 kW and other racks of 30 kW on 1.8 m2: 1.8 x (0.9 / 135 + 0.1 / 30).

    >>> round(m2_per_kw(135.0, 30.0, 0.1, 1.8), 4)
    0.018
    """
    return position_m2 * ((1.0 - other_frac) / compute_kw + other_frac / other_kw)


def lighting_frac(w_per_m2: float, area_m2_per_kw: float) -> float:
    """Return lighting over IT power, of an area that is lit at all hours.

    Parameters
    ----------
    w_per_m2 : float
        Mean power of lighting, not negative. [W/m2]
    area_m2_per_kw : float
        Lit area over IT power, not negative. [m2/kW]

    Examples
    --------
    8 W/m2 and 0.063 m2/kW: 0.5 W for each kW.

    >>> round(lighting_frac(8.0, 0.063), 6)
    0.000504
    """
    return w_per_m2 * area_m2_per_kw / W_PER_KW

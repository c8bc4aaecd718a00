"""Liquid-cooled racks in an air hall: what fits with sidecars or a water loop, and the PUE."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Rack:
    """Heat of one rack by path."""

    kw: float
    liquid_frac: float

    @property
    def liquid_kw(self) -> float:
        """Heat into cold plates [kW]."""
        return self.kw * self.liquid_frac

    @property
    def air_kw(self) -> float:
        """Heat into the air behind the rack [kW]."""
        return self.kw - self.liquid_kw


@dataclass(frozen=True)
class Group:
    """One rack with its sidecars, on the floor of the hall."""

    sidecars: int
    positions: int
    """Rack positions, those that stay empty for air included."""
    room_kw: float
    """Heat into the air of the room, with the fans of the sidecars."""


@dataclass(frozen=True)
class Hall:
    """What an air hall has for compute racks."""

    it_kw: float
    """Power. [kW]"""
    air_kw: float
    """Heat that its air plant removes. [kW]"""
    positions: int


def with_sidecars(rack: Rack, unit_kw: float, fan_frac: float, position_kw: float) -> Group:
    r"""Return a rack whose cold plates give their heat to the room through sidecars.

    A sidecar has one position. All heat and the fans' power leave by room air, which removes at most
    the heat of a position on each one:

    .. math:: n = \lceil Q_l / Q_u \rceil, \quad H = P + f Q_l, \quad
              p = \max(1 + n, \lceil H / h \rceil)

    Parameters
    ----------
    rack : Rack
        Rack of power P with liquid heat :math:`Q_l`.
    unit_kw : float
        Heat :math:`Q_u` of one sidecar, above 0. [kW]
    fan_frac : float
        Fan power f over the heat of the sidecars, not negative. [-]
    position_kw : float
        Air heat h of one rack position, above 0. [kW]

    Examples
    --------
    A rack of 135 kW with 90 % in cold plates and 30 kW for each position: 139.3 kW on 5 positions.

    >>> found = with_sidecars(Rack(135.0, 0.9), 200.0, 0.035, 30.0)
    >>> found.sidecars, found.positions, round(found.room_kw, 2)
    (1, 5, 139.25)
    """
    sidecars = math.ceil(rack.liquid_kw / unit_kw - 1e-9)
    room = rack.kw + fan_frac * rack.liquid_kw
    positions = max(1 + sidecars, math.ceil(room / position_kw - 1e-9))
    return Group(sidecars, positions, room)


def on_loop(rack: Rack, position_kw: float) -> Group:
    r"""Return a rack whose cold plates have a water loop; the rest of its heat leaves by room air.

    :math:`p = \max(1, \lceil Q_a / h \rceil)` for the air heat :math:`Q_a`.

    Examples
    --------
    >>> on_loop(Rack(135.0, 0.9), 30.0)
    Group(sidecars=0, positions=1, room_kw=13.5)
    """
    return Group(0, max(1, math.ceil(rack.air_kw / position_kw - 1e-9)), rack.air_kw)


def racks_that_fit(hall: Hall, rack: Rack, group: Group) -> tuple[int, str]:
    r"""Return the racks that fit in an air hall, and what limits them: power, air or positions.

    .. math:: k = \min\left(\lfloor P_{it} / P \rfloor, \lfloor Q_{air} / H \rfloor,
              \lfloor N / p \rfloor\right)

    Examples
    --------
    9 MW on 300 positions of 30 kW: 66 racks by power, 64 by air, 60 by positions.

    >>> racks_that_fit(Hall(9000.0, 9000.0, 300), Rack(135.0, 0.9), Group(1, 5, 139.25))
    (60, 'positions')
    """
    by = {
        "power": math.floor(hall.it_kw / rack.kw + 1e-9),
        "positions": hall.positions // group.positions,
    }
    if group.room_kw > 0.0:
        by["air"] = math.floor(hall.air_kw / group.room_kw + 1e-9)
    limit = min(by, key=lambda name: by[name])
    return by[limit], limit


def sidecar_pue(air_pue: float, fan_frac: float, liquid_frac: float) -> float:
    r"""Return the PUE of an air hall whose liquid heat leaves through sidecars.

    Fans of the sidecars take :math:`f l` of IT power; power chain and air plant serve it as they
    serve IT: :math:`PUE' = PUE\,(1 + f l)`.

    Parameters
    ----------
    air_pue : float
        PUE of the hall with air-cooled racks, at least 1. [-]
    fan_frac : float
        Fan power f over the heat of sidecars, not negative. [-]
    liquid_frac : float
        Heat l in cold plates over IT power of the hall, 0 to 1. [-]

    Examples
    --------
    >>> round(sidecar_pue(1.2, 0.035, 0.81), 5)
    1.23402
    """
    return air_pue * (1.0 + fan_frac * liquid_frac)


def mixed_pue(air_pue: float, liquid_pue: float, air_frac: float) -> float:
    r"""Return the PUE of a hall with air heat on its air plant and liquid heat on a loop.

    Both have the same losses before the racks: :math:`a\,PUE_{air} + (1 - a)\,PUE_{liquid}`, of which
    the liquid one has no room air.

    Parameters
    ----------
    air_pue, liquid_pue : float
        PUE of a hall with all heat on either path, at least 1. [-]
    air_frac : float
        Share a of IT heat in room air, 0 to 1. [-]

    Examples
    --------
    >>> round(mixed_pue(1.3, 1.1, 0.19), 4)
    1.138
    """
    return air_frac * air_pue + (1.0 - air_frac) * liquid_pue

"""Waste heat for a buyer: what a heat pump makes of it, and the electricity that it takes."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.units import KELVIN_AT_0_C


@dataclass(frozen=True)
class Lifted:
    """Heat at the needed temperature and electricity of the heat pump, for each unit of waste heat."""

    delivered: float
    electricity: float


def cop(source_c: float, needed_c: float, carnot_frac: float) -> float:
    r"""Return the coefficient of performance of a heat pump, :math:`\eta\, T_h / (T_h - T_c)`.

    Parameters
    ----------
    source_c : float
        Temperature of the source, below ``needed_c``. [C]
    needed_c : float
        Temperature of the water that the buyer needs. [C]
    carnot_frac : float
        Efficiency over that of Carnot; 0.4 to 0.6 for large heat pumps [1]_. [-]

    Raises
    ------
    ValueError
        When the source is not colder than the need, or the pump would give less heat than it takes.

    References
    ----------
    .. [1] Arpagaus et al. 2018, High temperature heat pumps, Energy 152, 985 to 1010.

    Examples
    --------
    From 40 to 70 C at half of Carnot:

    >>> round(cop(40.0, 70.0, 0.5), 2)
    5.72
    """
    if source_c >= needed_c:
        msg = f"a source of {source_c:g} C needs no heat pump for {needed_c:g} C"
        raise ValueError(msg)
    found = carnot_frac * (needed_c + KELVIN_AT_0_C) / (needed_c - source_c)
    if found <= 1.0:
        msg = (
            f"a heat pump from {source_c:g} to {needed_c:g} C has a COP of {found:.2f}, not above 1"
        )
        raise ValueError(msg)
    return found


def lifted(source_c: float, needed_c: float, carnot_frac: float) -> Lifted:
    r"""Return heat and electricity for one unit of waste heat.

    :math:`Q_h = Q_c\,COP / (COP - 1)` and :math:`W = Q_c / (COP - 1)`; a source that is warm enough
    is delivered as it is, without electricity.

    Parameters
    ----------
    source_c, needed_c, carnot_frac : float
        As in :func:`cop`; the source may be warmer than the need.

    Examples
    --------
    A COP of 5.72 takes 0.212 units of electricity and gives 1.212 of heat.

    >>> found = lifted(40.0, 70.0, 0.5)
    >>> round(found.delivered, 3), round(found.electricity, 3)
    (1.212, 0.212)
    >>> lifted(45.0, 40.0, 0.5)
    Lifted(delivered=1.0, electricity=0.0)
    """
    if source_c >= needed_c:
        return Lifted(1.0, 0.0)
    ratio = cop(source_c, needed_c, carnot_frac)
    return Lifted(ratio / (ratio - 1.0), 1.0 / (ratio - 1.0))

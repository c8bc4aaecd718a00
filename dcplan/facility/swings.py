"""Synchronous load swings of training: amplitude, frequency, ramp, and remedies."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.units import MJ_PER_KWH


@dataclass(frozen=True)
class Step:
    """Power profile of a training step."""

    period_s: float
    low_share: float
    """Share of the step in which all accelerators wait or exchange data at the same time."""
    high_mw: float
    low_mw: float
    edge_s: float
    """Time of a power edge, falling or rising."""


@dataclass(frozen=True)
class Swing:
    """Load swing that a step causes at the site."""

    amplitude_mw: float
    frequency_hz: float
    ramp_mw_per_s: float
    mean_mw: float


@dataclass(frozen=True)
class Remedy:
    """Remedies that keep a ramp limit."""

    store_mw: float
    store_kwh: float
    floor_mw: float
    extra_mw: float
    """Mean additional power of a power floor."""


def swing(step: Step) -> Swing:
    r"""Return amplitude :math:`\Delta P`, frequency :math:`1/T`, ramp and mean power.

    The ramp is :math:`\Delta P / t_{edge}`.

    Examples
    --------
    100 MW that fall to 40 for a tenth of a 4 s step, within 50 ms:

    >>> s = swing(Step(4.0, 0.1, 100.0, 40.0, 0.05))
    >>> s.amplitude_mw, s.frequency_hz, s.ramp_mw_per_s, round(s.mean_mw, 6)
    (60.0, 0.25, 1200.0, 94.0)
    """
    amplitude = step.high_mw - step.low_mw
    mean = step.high_mw - amplitude * step.low_share
    return Swing(amplitude, 1.0 / step.period_s, amplitude / step.edge_s, mean)


def remedy(step: Step, ramp_limit_mw_per_s: float) -> Remedy:
    r"""Return the storage that flattens the step, and the power floor that keeps the limit alone.

    Storage charges with :math:`\Delta P\,(1-s)` in the low phase and gives :math:`\Delta P\,s` in the
    rest, and holds :math:`\Delta P\,s\,(1-s)\,T`. A floor leaves :math:`\Delta P' =
    r_{max}\,t_{edge}`; its additional power in low phases is :math:`(\Delta P - \Delta P')\,s` on average.

    Parameters
    ----------
    step : Step
        The step.
    ramp_limit_mw_per_s : float
        Maximum ramp of the site. [MW/s]

    Examples
    --------
    >>> r = remedy(Step(4.0, 0.1, 100.0, 40.0, 0.05), 200.0)
    >>> r.store_mw, round(r.store_kwh, 3), r.floor_mw, r.extra_mw
    (54.0, 6.0, 90.0, 5.0)
    """
    found = swing(step)
    s = step.low_share
    kept = min(ramp_limit_mw_per_s * step.edge_s, found.amplitude_mw)
    # MW x s are 1000 kJ, and 3600 of those kWh/1000
    kwh = found.amplitude_mw * s * (1.0 - s) * step.period_s / MJ_PER_KWH
    store = found.amplitude_mw * max(s, 1.0 - s)
    return Remedy(store, kwh, step.high_mw - kept, (found.amplitude_mw - kept) * s)


def event_kwh(fall_mw: float, lasts_s: float, ramp_limit_mw_per_s: float) -> float | None:
    r"""Return the storage that keeps a ramp limit while the load falls and returns.

    The site's power falls at the limit r and climbs back at it; the end of the fall is not known
    in advance. With :math:`t = \min(t_{event}, \Delta P / r)`:

    .. math:: E = \Delta P\,t - r\,t^2 / 2

    Parameters
    ----------
    fall_mw : float
        Fall of the load, not negative. [MW]
    lasts_s : float
        Time until the load returns; infinite at the end of a job. [s]
    ramp_limit_mw_per_s : float
        Maximum ramp of the site, not negative; 0 for a flat load. [MW/s]

    Returns
    -------
    float or None
        Storage in kWh; None for a load that never returns without a ramp. [kWh]

    Examples
    --------
    22.5 MW end under 5 MW/s, or pause for 30 s with a flat load:

    >>> round(event_kwh(22.5, float("inf"), 5.0), 1), event_kwh(22.5, 30.0, 0.0)
    (14.1, 187.5)
    """
    until_s = fall_mw / ramp_limit_mw_per_s if ramp_limit_mw_per_s > 0.0 else float("inf")
    t = min(lasts_s, until_s)
    if t == float("inf"):
        return None
    return (fall_mw * t - ramp_limit_mw_per_s * t * t / 2.0) / MJ_PER_KWH

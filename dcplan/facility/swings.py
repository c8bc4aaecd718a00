"""Synchronous load swings of training: amplitude, frequency, ramp, and remedies."""

from __future__ import annotations

import math
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


@dataclass(frozen=True)
class Event:
    """A fall of a job's load, and the time until the load returns."""

    name: str
    fall_mw: float
    lasts_s: float
    """Infinite at the end of the job."""


@dataclass(frozen=True)
class Storage:
    """Storage that keeps a ramp limit at an event."""

    mw: float
    kwh: float | None
    """None where a flat load is impossible, because the load does not return."""


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


def events(step: Step, idle_mw: float, pause_s: float, restart_s: float) -> tuple[Event, ...]:
    r"""Return the events of a job at which its load falls.

    A wait of the step and a pause for a checkpoint fall from :math:`P_{high}` to :math:`P_{low}`; a restart
    after a failure and the end of the job fall to idle power.

    Parameters
    ----------
    step : Step
        The step.
    idle_mw : float
        Idle power of the accelerators. [MW]
    pause_s, restart_s : float
        Pause for a checkpoint, and time until a failed job trains again, not negative. [s]

    Examples
    --------
    >>> [(e.name, e.fall_mw) for e in events(Step(4.0, 0.1, 100.0, 40.0, 0.05), 25.0, 30.0, 600.0)][1:3]
    [('checkpoint pause', 60.0), ('restart after a failure', 75.0)]
    """
    wait, stop = step.high_mw - step.low_mw, step.high_mw - idle_mw
    return (
        Event("one training step", wait, step.low_share * step.period_s),
        Event("checkpoint pause", wait, pause_s),
        Event("restart after a failure", stop, restart_s),
        Event("end of the job", stop, math.inf),
    )


def stored(event: Event, ramp_limit_mw_per_s: float, edge_s: float) -> Storage:
    r"""Return the storage that keeps a ramp limit at an event: none where :math:`\Delta P / t_{edge} \le r`.

    Otherwise it takes the whole fall at once, and the energy of :func:`event_kwh`.

    Parameters
    ----------
    event : Event
        The event.
    ramp_limit_mw_per_s : float
        Maximum ramp of the site, not negative. [MW/s]
    edge_s : float
        Time of a power edge, above 0. [s]

    Examples
    --------
    A fall of 60 MW within 50 ms is 1,200 MW/s.

    >>> stored(Event("pause", 60.0, 30.0), 1200.0, 0.05), stored(Event("pause", 60.0, 30.0), 0.0, 0.05)
    (Storage(mw=0.0, kwh=0.0), Storage(mw=60.0, kwh=500.0))
    """
    if event.fall_mw <= ramp_limit_mw_per_s * edge_s:
        return Storage(0.0, 0.0)
    return Storage(event.fall_mw, event_kwh(event.fall_mw, event.lasts_s, ramp_limit_mw_per_s))

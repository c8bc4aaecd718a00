"""Long-haul links between sites: wavelengths, fiber pairs, amplifiers, ROADMs and router ports."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dcplan.fabric.span_noise import Glass, spans_reached


@dataclass(frozen=True)
class Mode:
    """One coherent signal: its rate, its width and the noise it bears."""

    gbps: float
    gbaud: float
    spacing_ghz: float
    osnr_db: float
    """Least OSNR of the receiver. [dB in 0.1 nm]"""
    most_km: float
    """Longest route that the maker names; infinity where none is named. [km]"""
    own_box: bool
    """Whether it is a transponder with client ports. A pluggable is inside a router port."""


@dataclass(frozen=True)
class LongHaul:
    """A sized long-haul link, both ends and everything between them."""

    wavelengths: int
    per_pair: int
    """Wavelengths that fit a fiber pair."""
    fibre_pairs: int
    spans: int
    span_km: float
    """Length of a span. [km]"""
    sections: int
    """Parts of the route between regenerations; 1 without regeneration."""
    ports: int
    """Coherent ports at the ends and at regenerators."""
    roadm_degrees: int
    amplifiers: int
    """Line amplifiers of all pairs at the sites between the spans."""
    hut_pairs: int
    """Fiber pairs summed over the amplifier and regenerator sites."""
    local_transceivers: int
    """Transceivers of short links: router to fabric, router to transponders, between regenerators."""
    router_ports: int
    """Router ports of one end."""
    gbps: float


def reach_km(mode: Mode, span_km: float, glass: Glass) -> float:
    """Return the longest route of a signal without regeneration [km].

    It is the smaller of the spans that the noise allows and the maker's longest route.

    Parameters
    ----------
    mode : Mode
        Coherent signal.
    span_km : float
        Length of a span. [km]
    glass : Glass
        Fiber and amplifiers.

    Examples
    --------
    >>> smf = Glass(0.2, 1.0, 5.5, 16.7, 1.3, 4800.0, 1550.0, 1.5, 38.0)
    >>> reach_km(Mode(400.0, 63.1, 75.0, 24.0, math.inf, False), 80.0, smf)
    480.0
    """
    spans = spans_reached(mode.osnr_db, mode.gbaud, span_km, glass)
    return min(spans * span_km, mode.most_km)


def long_haul(
    gbps: float,
    route_km: float,
    longest_span_km: float,
    mode: Mode,
    glass: Glass,
    local_gbps: float,
) -> LongHaul:
    r"""Size a long-haul link of a capacity with one kind of coherent signal.

    :math:`W = \lceil C / c \rceil` wavelengths share :math:`\lceil W / \lfloor B / \Delta f \rfloor
    \rceil` fiber pairs. Spans are equal and as long as allowed. Each pair has a ROADM degree at both
    ends of every section and an amplifier between two spans. A transponder signal is regenerated where
    the route exceeds its reach; a pluggable is not.

    Parameters
    ----------
    gbps, local_gbps : float
        Capacity one way; rate of a short link between router, transponders and fabric. [Gb/s]
    route_km, longest_span_km : float
        Length of the fiber route; longest distance between amplifiers. [km]
    mode, glass : Mode, Glass
        Coherent signal; fiber and amplifiers.

    Raises
    ------
    ValueError
        If the signal crosses no span, or a pluggable does not reach.

    Examples
    --------
    100 Tb/s over 1,300 km with 800 Gb/s transponders: 125 wavelengths, 32 a pair, 17 spans.

    >>> smf = Glass(0.2, 1.0, 5.5, 16.7, 1.3, 4800.0, 1550.0, 1.5, 38.0)
    >>> found = long_haul(1e5, 1300.0, 80.0, Mode(800.0, 140.0, 150.0, 23.0, math.inf, True), smf, 800.0)
    >>> found.wavelengths, found.fibre_pairs, found.spans, found.sections, found.amplifiers
    (125, 4, 17, 1, 64)
    """
    spans = max(math.ceil(route_km / longest_span_km - 1e-9), 1)
    span_km = route_km / spans
    sections = _sections(route_km, span_km, mode, glass)
    wavelengths, per_pair, pairs = _wavelengths(gbps, mode, glass)
    clients = math.ceil(wavelengths * mode.gbps / local_gbps - 1e-9)
    return LongHaul(
        wavelengths=wavelengths,
        per_pair=per_pair,
        fibre_pairs=pairs,
        spans=spans,
        span_km=span_km,
        sections=sections,
        ports=2 * wavelengths * sections,
        roadm_degrees=2 * pairs * sections,
        amplifiers=pairs * (spans - sections),
        hut_pairs=pairs * (spans - 1),
        local_transceivers=4 * clients * (2 if mode.own_box else 1) + 2 * clients * (sections - 1),
        router_ports=clients + (clients if mode.own_box else wavelengths),
        gbps=wavelengths * mode.gbps,
    )


def _wavelengths(gbps: float, mode: Mode, glass: Glass) -> tuple[int, int, int]:
    """Return the wavelengths, those that fit a fiber pair, and the fiber pairs."""
    wavelengths = max(math.ceil(gbps / mode.gbps - 1e-9), 1)
    per_pair = math.floor(glass.band_ghz / mode.spacing_ghz + 1e-9)
    return wavelengths, per_pair, math.ceil(wavelengths / per_pair)


def _sections(route_km: float, span_km: float, mode: Mode, glass: Glass) -> int:
    """Return the parts of the route between regenerations.

    Raises
    ------
    ValueError
        If the signal crosses no span, or a pluggable does not reach.
    """
    reached = reach_km(mode, span_km, glass)
    if reached < span_km * (1 - 1e-9):
        msg = f"its noise margin does not allow one span of {span_km:.0f} km"
        raise ValueError(msg)
    sections = math.ceil(route_km / reached - 1e-9)
    if sections > 1 and not mode.own_box:
        msg = f"it reaches {reached:.0f} km of {route_km:.0f} km of fiber"
        raise ValueError(msg)
    return sections


def round_trip_us(
    found: LongHaul, route_km: float, fibre_us_per_km: float, delays_us: tuple[float, float, float]
) -> float:
    r"""Return the round-trip time over a long-haul link with its equipment.

    .. math:: t = 2 (L k + a_s t_a + s t_c + 2 t_r)

    Here :math:`a_s` is the number of amplifier sites and ROADMs on the route, s the number of
    sections, and the delays are those of an amplifier, a pair of coherent ports and a router.

    Parameters
    ----------
    found : LongHaul
        Sized link.
    route_km : float
        Length of the fiber route. [km]
    fibre_us_per_km : float
        Time of light in fiber. [us/km]
    delays_us : tuple of float
        Delay of an amplifier, of sending and receiving on a section, and of a router. [us]

    Examples
    --------
    1,300 km with 16 amplifier sites and two ROADMs: 2 x (6,366 + 2.7 + 15 + 7.6).

    >>> smf = Glass(0.2, 1.0, 5.5, 16.7, 1.3, 4800.0, 1550.0, 1.5, 38.0)
    >>> found = long_haul(1e5, 1300.0, 80.0, Mode(800.0, 140.0, 150.0, 23.0, math.inf, True), smf, 800.0)
    >>> round(round_trip_us(found, 1300.0, 4.897, (0.15, 15.0, 3.8)))
    12783
    """
    amplifier_us, port_us, router_us = delays_us
    sites = found.spans - found.sections + 2 * found.sections
    one_way = route_km * fibre_us_per_km + sites * amplifier_us
    return 2.0 * (one_way + found.sections * port_us + 2.0 * router_us)

"""Noise of an amplified line of fiber spans, and how many spans a coherent signal crosses."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dcplan.units import (
    GIGA,
    LIGHT_M_PER_S,
    METERS_PER_KM,
    NANO,
    OSNR_NOISE_GHZ,
    PICO,
    PLANCK_J_S,
    from_db,
)


@dataclass(frozen=True)
class Glass:
    """A fiber line with amplifiers after every span."""

    loss_db_per_km: float
    span_extra_db: float
    """Loss of connectors, splices and repairs of one span. [dB]"""
    noise_figure_db: float
    """Noise figure of an amplifier. [dB]"""
    dispersion_ps_per_nm_km: float
    nonlinear_per_w_km: float
    """Kerr coefficient of the fiber. [1/(W km)]"""
    band_ghz: float
    """Width of the band that signals fill. [GHz]"""
    wavelength_nm: float
    margin_db: float
    """Margin for aging, repairs and penalties of the receiver. [dB]"""
    add_drop_osnr_db: float
    """OSNR that one ROADM leaves when it adds or drops a signal. [dB in 0.1 nm]"""


def span_snr(span_km: float, glass: Glass) -> float:
    r"""Return the best ratio of signal to noise after one span.

    Amplifiers add :math:`N_a = h \nu (F G - 1)` W/Hz over both polarizations. The Kerr effect adds
    :math:`\eta S^3` where the signal has S W/Hz over a full band (GN model, incoherent sum of spans).
    The ratio is highest at :math:`S = (N_a / 2 \eta)^{1/3}`, where it is :math:`2 S / (3 N_a)`.

    Parameters
    ----------
    span_km : float
        Length of a span. [km]
    glass : Glass
        Fiber and amplifiers.

    References
    ----------
    .. [1] P. Poggiolini, "The GN Model of Non-Linear Propagation in Uncompensated Coherent Optical
       Systems", J. Lightwave Technology 30(24), 2012: closed form for a full band.

    Examples
    --------
    Spans of 80 km with 0.2 dB/km, 1 dB of connectors and 5.5 dB of noise figure.

    >>> smf = Glass(0.2, 1.0, 5.5, 16.7, 1.3, 4800.0, 1550.0, 1.5, 38.0)
    >>> round(10 * math.log10(span_snr(80.0, smf)), 1)
    27.4
    """
    light_hz = LIGHT_M_PER_S / (glass.wavelength_nm * NANO)
    gain = from_db(glass.loss_db_per_km * span_km + glass.span_extra_db)
    noise = PLANCK_J_S * light_hz * (from_db(glass.noise_figure_db) * gain - 1.0)
    signal = float((noise / (2.0 * _kerr(span_km, glass))) ** (1.0 / 3.0))
    return 2.0 * signal / (3.0 * noise)


def _kerr(span_km: float, glass: Glass) -> float:
    """Return the Kerr noise of one span, divided by the cube of the signal's density [Hz2/W2]."""
    wave_m = glass.wavelength_nm * NANO
    ps_per_nm_m = PICO / NANO / METERS_PER_KM
    beta = glass.dispersion_ps_per_nm_km * ps_per_nm_m * wave_m**2 / (2 * math.pi * LIGHT_M_PER_S)
    fade = math.log(from_db(glass.loss_db_per_km)) / METERS_PER_KM
    reach_m = 1.0 / fade
    long_m = (1.0 - math.exp(-fade * span_km * METERS_PER_KM)) / fade
    width = math.asinh(math.pi**2 / 2 * beta * reach_m * (glass.band_ghz * GIGA) ** 2)
    gamma = glass.nonlinear_per_w_km / METERS_PER_KM
    return 8.0 / 27.0 * (gamma * long_m) ** 2 * width / (math.pi * beta * reach_m)


def spans_reached(osnr_db: float, gbaud: float, span_km: float, glass: Glass) -> int:
    r"""Return the number of spans that a signal crosses between two ROADMs.

    Noise of equal spans adds up: :math:`n / \rho + 2 / \rho_a \leq 1 / \rho_{min}`, where
    :math:`\rho_{min}` is the least OSNR with the margin, :math:`\rho_a` that of one ROADM, and
    :math:`\rho` that of a span: its ratio of signal to noise times the symbol rate over 12.5 GHz
    (0.1 nm).

    Parameters
    ----------
    osnr_db : float
        Least OSNR of the receiver. [dB in 0.1 nm]
    gbaud : float
        Symbol rate. [GBd]
    span_km : float
        Length of a span. [km]
    glass : Glass
        Fiber and amplifiers.

    Examples
    --------
    400 Gb/s with 16QAM at 63.1 GBd, which needs 24 dB: 6 spans of 80 km, 480 km.

    >>> smf = Glass(0.2, 1.0, 5.5, 16.7, 1.3, 4800.0, 1550.0, 1.5, 38.0)
    >>> spans_reached(24.0, 63.1, 80.0, smf)
    6
    """
    allowed = 1.0 / from_db(osnr_db + glass.margin_db) - 2.0 / from_db(glass.add_drop_osnr_db)
    one = span_snr(span_km, glass) * gbaud / OSNR_NOISE_GHZ
    return max(math.floor(allowed * one), 0)

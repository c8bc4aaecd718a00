"""Medium-voltage supply of a hall: sections of switchgear, and current of a short circuit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dcplan.facility.electrical.power import TWO_SIDES, blocks_needed
from dcplan.facility.electrical.ratings import amps, next_rating
from dcplan.units import KVA_PER_MVA, KW_PER_MW, W_PER_KW


def least_impedance_frac(kva: float, table: Sequence[tuple[float, float]]) -> float:
    """Return the least short-circuit impedance of a transformer of two windings.

    Above the largest rating of the table it is that of the largest, which the standard exceeds.

    Parameters
    ----------
    kva : float
        Rated power, above 0. [kVA]
    table : sequence of tuple
        Ratings in ascending order, each with the least impedance up to it. [kVA, -]

    Examples
    --------
    >>> table = [(6300.0, 0.07), (25_000.0, 0.08)]
    >>> least_impedance_frac(6300.0, table), least_impedance_frac(10_000.0, table)
    (0.07, 0.08)
    >>> least_impedance_frac(160_000.0, table)
    0.08
    """
    return next((z for most, z in table if kva <= most), table[-1][1])


def fault_ka(kva: float, volts: float, impedance_frac: float) -> float:
    r"""Return the initial symmetrical current of a three-phase short circuit behind one transformer.

    The grid before the transformer has no impedance, and motors and generators add nothing:

    .. math:: I_k'' = \frac{c\,U}{\sqrt{3}\,K_T Z_T} = I_r \frac{1 + 0.6 z}{0.95 z}

    since :math:`K_T = 0.95 c / (1 + 0.6 x_T)`, with the resistance of the transformer left out.

    Parameters
    ----------
    kva : float
        Rated power of the transformer, above 0. [kVA]
    volts : float
        Voltage between lines on the side of the short circuit, above 0. [V]
    impedance_frac : float
        Short-circuit impedance z, above 0. [-]

    Examples
    --------
    3,150 kVA at 415 V: 4,382 A x 1.042 / 0.0665 = 68.7 kA.

    >>> round(fault_ka(3150.0, 415.0, 0.07), 1)
    68.7
    """
    correction = 0.95 / (1.0 + 0.6 * impedance_frac)
    return amps(kva, volts) / (correction * impedance_frac) / W_PER_KW


@dataclass(frozen=True)
class Sections:
    """Sections of a medium-voltage bus, each with its own incoming supply and ties to its neighbors."""

    count: int
    carrying: int
    """Sections whose supplies carry the whole load: the others may fail."""
    each_kva: float
    """Load of one section when the others have failed."""


def sections(load_kva: float, volts: float, most_amps: float, redundancy: str) -> Sections:
    """Return the sections of the bus for a load: with any rule except N, one supply may fail.

    Under 2N, half of the sections carry the whole load.

    Parameters
    ----------
    load_kva : float
        Load of the site, above 0. [kVA]
    volts : float
        Voltage between lines, above 0. [V]
    most_amps : float
        Largest rated current of a section, above 0. [A]
    redundancy : str
        A key of :data:`~dcplan.facility.electrical.power.RULES`.

    Examples
    --------
    63 MVA at 13.8 kV are 2,636 A:

    >>> sections(63_000.0, 13_800.0, 3150.0, "n+1")
    Sections(count=2, carrying=1, each_kva=63000.0)
    >>> sections(126_000.0, 13_800.0, 3150.0, "n+1")
    Sections(count=3, carrying=2, each_kva=63000.0)
    """
    full_mva = most_amps / amps(1.0, volts) / KVA_PER_MVA
    count = blocks_needed(load_kva / KVA_PER_MVA, full_mva, redundancy)
    spare = 0 if redundancy == "n" else count // 2 if redundancy == TWO_SIDES else 1
    return Sections(count, count - spare, load_kva / (count - spare))


@dataclass(frozen=True)
class Feed:
    """Main transformers between a high-voltage utility and the distribution of a site."""

    it_mw: float
    """Design IT power behind them. [MW]"""
    volts: float
    """Voltage of the distribution between lines. [V]"""
    most_amps: float
    """Largest rated current of a section of the bus. [A]"""
    redundancy: str
    power_factor: float
    fixed_frac: float
    """Losses without load over rating. [kW/kVA]"""
    square_frac: float
    """Losses at the rating with the square of load, over rating. [kW/kVA]"""


def main_losses_frac(pue: float, peak_pue: float, load: float, feed: Feed) -> float:
    r"""Return the losses of the main transformers over the IT power.

    One transformer for each section of the bus is rated for the design day, and all of them share the
    load:

    .. math:: e_m = \frac{m S_r (f + q x^2)}{P_{IT} L}, \quad x = \frac{P_{IT} L\,\mathrm{PUE}}{m S_r \cos\varphi}

    Parameters
    ----------
    pue : float
        Power behind the transformers over IT power, at least 1. [-]
    peak_pue : float
        The same on the design day, at least 1. [-]
    load : float
        IT power L over the design IT power, above 0, at most 1. [-]
    feed : Feed
        Distribution behind the transformers, and their losses f and q.

    Examples
    --------
    50 MW of IT at a PUE of 1.2: 60 MW at 0.95 are 63,158 kVA, next 80,000. Under N+1 two transformers
    share them, x = 0.395: 160,000 x (0.0005 + 0.0034 x 0.156) kW = 165 kW.

    >>> feed = Feed(50.0, 34_500.0, 3150.0, "n+1", 0.95, 0.0005, 0.0034)
    >>> round(main_losses_frac(1.2, 1.2, 1.0, feed), 5)
    0.0033
    """
    it_kw = feed.it_mw * KW_PER_MW
    bus = sections(
        peak_pue * it_kw / feed.power_factor, feed.volts, feed.most_amps, feed.redundancy
    )
    installed = bus.count * next_rating(bus.each_kva)
    x = pue * load * it_kw / feed.power_factor / installed
    return installed * (feed.fixed_frac + feed.square_frac * x * x) / (it_kw * load)

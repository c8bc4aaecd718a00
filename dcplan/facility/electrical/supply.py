"""Medium-voltage supply of a hall: sections of switchgear, and current of a short circuit."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.facility.electrical.power import TWO_SIDES, blocks_needed
from dcplan.facility.electrical.ratings import amps
from dcplan.units import KVA_PER_MVA, W_PER_KW

LEAST_IMPEDANCE = (
    *((630.0, 0.04), (1250.0, 0.05), (2500.0, 0.06), (6300.0, 0.07), (25_000.0, 0.08)),
    *((40_000.0, 0.10), (63_000.0, 0.11), (100_000.0, 0.125)),
)
"""Rated power up to which a transformer has at least this short-circuit impedance: IEC 60076-5, Table 1.
[kVA, -]"""


def least_impedance_frac(kva: float) -> float:
    """Return the least short-circuit impedance of a transformer of two windings.

    Above the largest rating of the table it is that of the largest, which the standard exceeds.

    Parameters
    ----------
    kva : float
        Rated power, above 0. [kVA]

    Examples
    --------
    >>> least_impedance_frac(3150.0), least_impedance_frac(63_000.0), least_impedance_frac(160_000.0)
    (0.07, 0.11, 0.125)
    """
    return next((z for most, z in LEAST_IMPEDANCE if kva <= most), LEAST_IMPEDANCE[-1][1])


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

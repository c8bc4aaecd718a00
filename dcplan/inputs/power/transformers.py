"""Transformers from catalog values: least short-circuit impedances, and losses of main transformers."""

from __future__ import annotations

from dcplan.facility.electrical.supply import Feed
from dcplan.inputs.log import InputLog

RATINGS_KVA = (630, 1250, 2500, 6300, 25_000, 40_000, 63_000, 100_000)
"""Rated powers up to which the standard gives a least impedance; each has a row of the catalog."""
MAIN_LOSSES = ("main-transformer-fixed", "main-transformer-square")


def impedances(log: InputLog) -> list[tuple[float, float]]:
    """Return the least short-circuit impedances by rated power [kVA, -]."""
    return [
        (float(kva), log.parameter("facility", f"transformer-impedance-{kva}-kva"))
        for kva in RATINGS_KVA
    ]


def feed_of(it_mw: float, volts: float, redundancy: str, log: InputLog) -> Feed:
    """Return the main transformers of a site with a high-voltage supply.

    Parameters
    ----------
    it_mw : float
        Design IT power, above 0. [MW]
    volts : float
        Voltage of the distribution between lines, above 0. [V]
    redundancy : str
        Rule of the sections: a key of :data:`dcplan.facility.electrical.power.RULES`.
    log : InputLog
        Catalog and log.
    """
    keys = ("medium-bus-amps", "hall-power-factor", *MAIN_LOSSES)
    amps, factor, fixed, square = (log.parameter("facility", key) for key in keys)
    return Feed(it_mw, volts, amps, redundancy, factor, fixed, square)

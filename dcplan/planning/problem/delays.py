"""Delays before a job can start: late delivery of hardware, late energization of a new hall."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dcplan.inputs.log import InputLog
from dcplan.inputs.recovery import bounds_of
from dcplan.planning.problem.terms import FleetTerms, HallTerms, Placement
from dcplan.reliability.job import Bounds
from dcplan.units import DAYS_PER_QUARTER


def start_delays(
    placed: Iterable[Placement],
    halls: Mapping[str, HallTerms],
    fleet: FleetTerms | None,
    log: InputLog,
) -> dict[tuple[str, str], dict[str, Bounds]]:
    """Return the delays before a job can start, by hall and system.

    They are the delivery of hardware and the energization of a new hall.
    """
    found: dict[tuple[str, str], dict[str, Bounds]] = {}
    for p in placed:
        if fleet and (fleet.hall, fleet.system) == (p.hall, p.system):
            continue
        own = {"delivery": bounds_of(log, "delivery-slip-days")}
        hall = halls[p.hall]
        if not hall.existing and hall.available_from:
            building = hall.available_from * DAYS_PER_QUARTER
            low, mid, high = bounds_of(log, "energisation-slip-frac")
            own["energisation"] = low * building, mid * building, high * building
        found[p.hall, p.system] = own
    return found

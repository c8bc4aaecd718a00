"""Supply of a hall at medium voltage: main transformers, switchgear and feeders of its transformers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dcplan.answers.facility.resolve import ResolvedFacility
from dcplan.facility.electrical.ratings import amps, next_rating
from dcplan.facility.electrical.supply import Sections, fault_ka, least_impedance_frac, sections
from dcplan.inputs.cooling.setting import Performance
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.transformers import impedances
from dcplan.specs.facility.equipment import ALL, ElectricalRow
from dcplan.units import KW_PER_MW, W_PER_KW

MAIN_TRANSFORMER = "main-transformer"
SWITCHGEAR, FEEDER = "medium-voltage-switchgear", "medium-voltage-feeder"
NO_UTILITY = "main transformers and short-circuit rating: --utility-kv is not given"
NO_FAULT_LEVEL = "short-circuit rating: the fault level of the utility is not known"


@dataclass(frozen=True)
class Supply:
    """Voltages of a hall's supply, and its medium-voltage sections."""

    kv: float
    """Voltage of the distribution in the site."""
    utility_kv: float | None
    load_kw: float
    bus: Sections
    rule: str

    @property
    def transformed(self) -> bool:
        """Whether main transformers stand between the utility and the distribution."""
        return self.utility_kv is not None and self.utility_kv > self.kv

    @property
    def main_kva(self) -> float:
        """Rating of one main transformer."""
        return next_rating(self.bus.each_kva)


def supply(found: Performance, resolved: ResolvedFacility, log: InputLog) -> Supply:
    """Return the supply of a hall for its power on the design day, behind main transformers."""
    request = resolved.request
    utility, kv = request.utility_kv, resolved.distribution_kv(log)
    load_kw = (found.peak_pue - found.peak_main_frac) * resolved.it_mw * KW_PER_MW
    load_kva = load_kw / log.parameter("facility", "hall-power-factor")
    most = log.parameter("facility", "medium-bus-amps")
    bus = sections(load_kva, kv * W_PER_KW, most, request.redundancy)
    return Supply(kv, utility, load_kw, bus, request.redundancy)


def supply_rows(at: Supply, feeding: Sequence[ElectricalRow], log: InputLog) -> list[ElectricalRow]:
    """Return the lines of the schedule before the transformers of the hall.

    Each section of the switchgear has one incoming supply, with a main transformer if the utility's
    voltage is higher, and ties to its neighbors. Each transformer of the hall has a feeder.
    """
    volts, least = at.kv * W_PER_KW, log.parameter("facility", "medium-feeder-amps")
    kva = at.bus.each_kva * at.bus.carrying
    bus_amps = next_rating(amps(at.main_kva if at.transformed else at.bus.each_kva, volts))
    bus_amps = max(bus_amps, least)
    largest = max(row.rating_kva or 0.0 for row in feeding)
    transformers = sum(row.count or 0 for row in feeding)
    feeder = max(next_rating(amps(largest, volts)), least)
    fault = _fault_ka(at, volts, log)
    why = None if fault else NO_UTILITY if at.utility_kv is None else NO_FAULT_LEVEL
    rows = [_main_transformer(at, kva)] if at.transformed else []
    from_utility = at.utility_kv if at.utility_kv and not at.transformed else None
    panels = (
        ("MVS", SWITCHGEAR, at.bus.count, bus_amps, from_utility),
        ("MVF", FEEDER, transformers, feeder, None),
    )
    return rows + [
        ElectricalRow(
            tag,
            name,
            ALL,
            at.load_kw,
            count,
            rating_amps=rating,
            supply_volts=kv * W_PER_KW if kv else None,
            line_volts=volts,
            short_circuit_ka=fault,
            redundancy=at.rule,
            load_frac=amps(kva, volts) / (count * rating),
            not_sized=why,
        )
        for tag, name, count, rating, kv in panels
    ]


def _main_transformer(at: Supply, kva: float) -> ElectricalRow:
    return ElectricalRow(
        "TX-U",
        MAIN_TRANSFORMER,
        ALL,
        at.load_kw,
        at.bus.count,
        rating_kva=at.main_kva,
        supply_volts=(at.utility_kv or 0.0) * W_PER_KW,
        line_volts=at.kv * W_PER_KW,
        redundancy=at.rule,
        load_frac=kva / (at.bus.count * at.main_kva),
    )


def _fault_ka(at: Supply, volts: float, log: InputLog) -> float | None:
    """Return the rated short-circuit current behind one main transformer; ties are open."""
    if not at.transformed:
        return None
    return next_rating(
        fault_ka(at.main_kva, volts, least_impedance_frac(at.main_kva, impedances(log)))
    )

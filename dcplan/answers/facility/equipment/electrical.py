"""Electrical schedule: transformers, switchgear, generators, UPS and busway of a hall."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.answers.facility.equipment.supply import supply, supply_rows
from dcplan.answers.facility.resolve import ResolvedFacility
from dcplan.answers.facility.tables import COOLING_CLASS, cooling_branch
from dcplan.facility.electrical.chain import (
    RACK_BATTERIES,
    UPS_LOSSES,
    WITHOUT_UPS,
    Branch,
    efficiencies,
)
from dcplan.facility.electrical.power import TWO_SIDES
from dcplan.facility.electrical.ratings import amps, equal_units, next_rating
from dcplan.facility.electrical.supply import fault_ka, least_impedance_frac
from dcplan.inputs.cooling.setting import Performance
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.chain import chain_values
from dcplan.inputs.power.transformers import impedances
from dcplan.result import Table
from dcplan.specs.facility.equipment import ELECTRICAL, ElectricalRow
from dcplan.units import KW_PER_MW, W_PER_KW

CLASSES = (("compute", "C"), ("network and storage", "N"), (COOLING_CLASS, "M"))
CLASS_VOLTAGE = "supply voltage: a class value, --medium-kv or --utility-kv gives yours"
NO_UPS = "the answer does not say which pumps and fans need a UPS; chillers start again"
NO_CENTRAL_UPS = {
    RACK_BATTERIES: "batteries stand in the racks, which come with them",
    WITHOUT_UPS: "none is wanted: these racks stop with the grid until generators run",
}
NO_ROWS = "rows of racks are known with --system only"
NO_FEEDERS = "feeders from the switchgear to motors follow the list of motors"


@dataclass(frozen=True)
class Behind:
    """One load class with what its blocks deliver and take, and the ratings that all classes share."""

    name: str
    letter: str
    rule: str
    branch: Branch
    load_kw: float
    ups_kw: float
    """Power that all transformers of the class deliver on the design day."""
    block_kw: float
    """Power that the transformer of one block delivers at the full load of the block."""
    volts: float
    power_factor: float
    fed: bool
    """Whether a UPS and busway follow: racks, not cooling."""
    supply_volts: float
    stated: bool
    """Whether the voltage of the supply is given."""


def electrical_table(
    found: Performance, resolved: ResolvedFacility, rows_of_racks: int, log: InputLog
) -> Table:
    """Return the electrical schedule of a hall on its design day.

    Every block has one transformer, one line-up of switchgear, its generators and its UPS. Feeders
    of one medium-voltage bus supply all transformers.
    """
    lines: list[ElectricalRow] = []
    before = supply(found, resolved, log)
    for behind in _classes(found, resolved, before.kv, log):
        if not behind.branch.blocks:
            continue
        lines += [_transformer(behind), _switchgear(behind, log), _generator(behind, log)]
        lines.append(_ups(behind, log))
        lines.append(_busway(behind, rows_of_racks, log))
    transformers = [line for line in lines if line.equipment == "transformer"]
    return ELECTRICAL.table([*supply_rows(before, transformers, log), *lines])


def _classes(
    found: Performance, resolved: ResolvedFacility, medium_kv: float, log: InputLog
) -> list[Behind]:
    rules = (resolved.request.redundancy, *[resolved.request.other_redundancy] * 2)
    feeding = resolved.branches(log)
    parts = (*feeding, cooling_branch(found, resolved, log))
    volts = log.parameter("facility", "hall-volts")
    factor = log.parameter("facility", "hall-power-factor")
    p = chain_values(feeding, log)
    asked = resolved.request
    stated = asked.utility_kv is not None or asked.medium_kv is not None
    classes: list[Behind] = []
    for (name, letter), rule, part in zip(CLASSES, rules, parts, strict=True):
        fed = name != COOLING_CLASS
        kw, block_kw = part.it_frac * resolved.it_mw * KW_PER_MW, part.block_mw * KW_PER_MW
        taken, full = kw, block_kw
        if fed and part.blocks:
            at = [efficiencies(x, p, part.ups) for x in (part.load_frac, 1.0)]
            taken = kw / float(at[0].whole / at[0].transformer)
            full = block_kw / float(at[1].whole / at[1].transformer)
        own = (volts, factor, fed, medium_kv * W_PER_KW, stated)
        classes.append(Behind(name, letter, rule, part, kw, taken, full, *own))
    return classes


def _transformer(b: Behind) -> ElectricalRow:
    each_kva = next_rating(b.block_kw / b.power_factor)
    return ElectricalRow(
        f"TX-{b.letter}",
        "transformer",
        b.name,
        b.ups_kw,
        b.branch.blocks,
        rating_kva=each_kva,
        supply_volts=b.supply_volts,
        line_volts=b.volts,
        redundancy=b.rule,
        load_frac=b.ups_kw / b.power_factor / (b.branch.blocks * each_kva),
        not_sized=None if b.stated else CLASS_VOLTAGE,
    )


def _switchgear(b: Behind, log: InputLog) -> ElectricalRow:
    each_kva = next_rating(b.block_kw / b.power_factor)
    rating = next_rating(amps(each_kva, b.volts))
    current = amps(b.ups_kw / b.power_factor, b.volts)
    fault = fault_ka(each_kva, b.volts, least_impedance_frac(each_kva, impedances(log)))
    return ElectricalRow(
        f"SWG-{b.letter}",
        "switchgear",
        b.name,
        b.ups_kw,
        b.branch.blocks,
        rating_amps=rating,
        line_volts=b.volts,
        short_circuit_ka=next_rating(fault),
        redundancy=b.rule,
        load_frac=current / (b.branch.blocks * rating),
    )


def _generator(b: Behind, log: InputLog) -> ElectricalRow:
    largest = log.parameter("facility", "generator-unit-kw")
    sets, each = equal_units(b.block_kw, largest)
    rating = min(next_rating(each), largest)
    count = b.branch.blocks * sets
    return ElectricalRow(
        f"GEN-{b.letter}",
        "generator",
        b.name,
        b.ups_kw,
        count,
        rating_kw=rating,
        line_volts=b.volts,
        redundancy=b.rule,
        load_frac=b.ups_kw / (count * rating),
    )


def _ups(b: Behind, log: InputLog) -> ElectricalRow:
    tag = f"UPS-{b.letter}"
    if not b.fed:
        return ElectricalRow(tag, "ups", b.name, None, None, not_sized=NO_UPS)
    if UPS_LOSSES[b.branch.ups] is None:
        return ElectricalRow(tag, "ups", b.name, None, None, not_sized=NO_CENTRAL_UPS[b.branch.ups])
    largest = log.parameter("facility", "ups-unit-kw")
    modules, each = equal_units(b.branch.block_mw * KW_PER_MW, largest)
    count = b.branch.blocks * modules
    return ElectricalRow(
        tag,
        "ups",
        b.name,
        b.load_kw,
        count,
        rating_kw=each,
        line_volts=b.volts,
        redundancy=b.rule,
        load_frac=b.branch.load_frac,
        not_sized="battery time: no source for it at this rating",
    )


def _busway(b: Behind, rows_of_racks: int, log: InputLog) -> ElectricalRow:
    """Return busway along the rows of racks; racks with a spare block have two sides."""
    tag = f"BUS-{b.letter}"
    if not b.fed or not rows_of_racks:
        reason = NO_ROWS if b.fed else NO_FEEDERS
        return ElectricalRow(tag, "busway", b.name, None, None, not_sized=reason)
    continuous = log.parameter("facility", "feed-continuous-frac")
    largest = log.parameter("facility", "busway-amps")
    row_amps = amps(b.load_kw / rows_of_racks / b.power_factor, b.volts)
    runs, each = equal_units(row_amps / continuous, largest)
    rating = min(next_rating(each), largest)
    sides = 1 if b.rule == "n" else 2
    count = rows_of_racks * runs * sides
    return ElectricalRow(
        tag,
        "busway",
        b.name,
        b.load_kw,
        count,
        rating_amps=rating,
        line_volts=b.volts,
        redundancy="two sides" if b.rule == TWO_SIDES or sides > 1 else b.rule,
        load_frac=rows_of_racks * row_amps / (count * rating),
    )

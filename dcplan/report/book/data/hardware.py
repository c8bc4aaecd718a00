"""Facts of hardware: racks, hall units with their storage, pieces of a fabric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Fabric, Optic, Switch
from dcplan.inputs.cooling.performance import CHILLER_PRICE
from dcplan.inputs.network_parts import links_per_cage, node_transceiver
from dcplan.planning.problem.terms import (
    Cooled,
    CoolingTerms,
    FabricOption,
    HallTerms,
    Placement,
    PortClass,
)
from dcplan.report.book.data.facts import Facts, Frozen, Place
from dcplan.report.book.data.term import Term, added, largest, number
from dcplan.units import KW_PER_MW, QUARTERS_PER_YEAR


def rack_facts(facts: Facts, p: Placement) -> None:
    """Write power and cost of one rack of a system in a hall."""
    key, at = f"systems.{p.system}", Place(facts, p.key)
    nodes = at.write("nodes", "", float(p.nodes), Frozen.COUNTED)
    at.write("accelerators", "", float(p.accelerators), Frozen.COUNTED)
    at.write("slots", "", float(p.slots), Frozen.COUNTED)
    networked = facts.knows(f"{key}.own_network.usd")

    def own(name: str, network: str) -> Term:
        """Return a value of one unit, with its share of the system's own network."""
        one = facts.input(f"{key}.{name}")
        return one + facts.input(f"{key}.own_network.{network}") if networked else one

    rated = _without_fans(facts, p, own("rated_kw", "kw"))
    at.write("rated_kw", "kW", p.rated_kw, nodes * rated)
    at.write("overhead_kw", "kW", p.overhead_kw, Frozen.NOT_LISTED)

    def power(name: str, planned: float, given: str, share: str) -> Term:
        """Write a power of the rack: that of its nodes, or a share of their rated power."""
        known = facts.knows(f"{key}.{given}")
        each = _without_fans(facts, p, own(given, "kw")) if known else rated * facts.input(share)
        return at.write(name, "kW", planned, nodes * each)

    def average(state: str, planned: float) -> Term:
        return power(f"{state}_kw", planned, f"average_kw.{state}", f"power.average-{state}-frac")

    power("peak_kw", p.peak_kw, "peak_kw", "power.peak-over-rated")
    idle, training = average("idle", p.idle_kw), average("training", p.training_kw)
    average("research", p.research_kw)
    busy = facts.input("fleet.utilization_frac") if p.idle_average_kw != p.idle_kw else None
    share = at.write("busy_frac", "", busy.value if busy else 0.0, busy or Frozen.NOT_GIVEN)
    at.write("idle_average_kw", "kW", p.idle_average_kw, idle + share * (training - idle))
    each = own("price_usd", "usd")
    if p.conversion_usd:
        each = each + facts.input("facility.tank-conversion-usd")
    price = at.write("price_usd", "USD", p.price_usd, nodes * each)
    upkeep = price * facts.input("finance.maintenance-hardware-frac-per-year") / QUARTERS_PER_YEAR
    at.write("maintenance_usd", "USD", p.maintenance_usd_per_quarter, upkeep)
    _storage(at, p.storage_usd, p.storage_kw, p.storage_blocks)


def _without_fans(facts: Facts, p: Placement, power: Term) -> Term:
    """Return the power of a node without the fans that its conversion for a tank removes."""
    if not p.fan_frac:
        return power
    fans = facts.input(f"systems.{p.system}.fan_frac", "facility.server-fan-air-frac")
    return power * (number(1.0) - fans)


def hall_facts(
    facts: Facts, hall: HallTerms, fitted: list[CoolingTerms], seasons: Sequence[int]
) -> None:
    """Write the cost of one hall unit under each cooling, and the storage of the hall."""
    key = f"sites.{hall.site}.halls.{hall.name}"
    for c in fitted:
        added_by = hall.upgrade_for(c.id)
        upgrade = None if added_by is None else hall.upgrades[added_by]
        at = Place(facts, (hall.id, c.id, ""))
        own = f"{key}.upgrades.{upgrade.id}.{c.id}" if upgrade else f"{key}.{c.id}"
        most = upgrade.after if upgrade else hall.start or hall
        it_mw = at.write("it_mw", "MW", most.it_mw, Frozen.CAPACITY)
        pue = at.write("pue", "", c.pue, facts.input(f"{own}.pue"))
        peak = _peak(at, pue, c.other, facts.input(f"{own}.peak_pue"))
        peak_pue = at.write("peak_pue", "", c.peak_pue, peak)
        water = facts.given(f"{own}.wue_l_per_kwh")
        at.write("wue_l_per_kwh", "L/kWh", c.wue_l_per_kwh, water)
        _seasons(at, c.other, seasons)
        if upgrade is None:
            each = facts.input(f"{key}.fit_out_usd_per_kw", f"cooling.{c.id}.fit_out_usd_per_kw")
            chilled = f"{own}.peak_chilled_frac"
            if facts.knows(chilled):
                each = each + facts.input(chilled) * facts.input(f"power.{CHILLER_PRICE}")
            at.write("fit_out_usd", "USD", c.fit_out_usd, each * it_mw * KW_PER_MW)
        else:
            at.write("fit_out_usd", "USD", 0.0, Frozen.NOT_PAID)
        shell: Term | Frozen = Frozen.NOT_PAID
        if c.building_usd:
            given = f"{key}.building_usd_per_kw"
            shell = (
                facts.input(given) * it_mw * KW_PER_MW
                if facts.knows(given)
                else facts.input("power.building-shell-usd-per-mw") * it_mw * peak_pue
            )
        at.write("building_usd", "USD", c.building_usd, shell)
    at = Place(facts, (hall.id, "", ""))
    _storage(at, hall.storage_usd, hall.storage_kw, hall.storage_blocks)


def cooled_facts(
    facts: Facts, hall: HallTerms, placed: list[Placement], seasons: Sequence[int]
) -> None:
    """Write PUE and WUE of racks whose system has others than the hall as designed."""
    for p in placed:
        if p.hall == hall.id and p.system in dict(hall.cooling(p.cooling).by_system):
            _own_rates(facts, hall, p, seasons)


def _own_rates(facts: Facts, hall: HallTerms, p: Placement, seasons: Sequence[int]) -> None:
    own, at = hall.cooling(p.cooling).cooled(p.system), Place(facts, p.key)
    added_by = hall.upgrade_for(p.cooling)
    upgrade = "" if added_by is None else f"upgrades.{hall.upgrades[added_by].id}."
    key = f"sites.{hall.site}.halls.{hall.name}.{upgrade}{p.cooling}"

    def of(name: str) -> Term:
        return facts.input(f"{key}.{p.system}.{name}", f"{key}.{name}")

    pue = at.write("pue", "", own.pue, of("pue"))
    at.write("peak_pue", "", own.peak_pue, _peak(at, pue, own, of("peak_pue")))
    water = of("wue_l_per_kwh") if own.wue_l_per_kwh else Frozen.NOT_GIVEN
    at.write("wue_l_per_kwh", "L/kWh", own.wue_l_per_kwh, water)
    _seasons(at, own, seasons)


def _peak(at: Place, pue: Term, cooled: Cooled, design_day: Term) -> Term:
    """Return the PUE of the design day, which is never below that of the warmest season."""
    peak = largest(pue, design_day)
    if peak.value >= cooled.peak_pue:
        return peak
    warmest = max(cooled.pue_by_season, default=1.0)
    return largest(pue * at.write("pue_warmest_frac", "", warmest, Frozen.NOT_LISTED), design_day)


def _seasons(at: Place, cooled: Cooled, seasons: Sequence[int]) -> None:
    """Write PUE and WUE of each quarter's season over those of the year, where they differ."""
    for t, season in enumerate(seasons if cooled.pue_by_season else ()):
        share = cooled.pue_by_season[season]
        replace(at, quarter=t).write("pue_season_frac", "", share, Frozen.NOT_LISTED)
    if cooled.water_by_season and cooled.wue_l_per_kwh:
        for t, season in enumerate(seasons):
            share = cooled.season_share(season)
            replace(at, quarter=t).write("wue_season_frac", "", share, Frozen.NOT_LISTED)


def _storage(at: Place, usd: float, kw: float, tiers: tuple[tuple[str, float], ...] = ()) -> None:
    """Write storage in blocks of the given tier, or of the tiers that the plan chose."""
    facts = at.facts
    if tiers:
        _tiers(at, usd, kw, tiers)
        return
    tier = next(k.rpartition(".")[0] for k in facts.inputs if k.startswith("storage_tiers."))
    price, each = f"{tier}.price_usd", f"{tier}.kw"
    own = [
        (planned, facts.input(key))
        for planned, key in ((usd, price), (kw, each))
        if facts.knows(key)
    ]
    count = next((planned / part.value for planned, part in own if part.value), 0.0)
    blocks = at.write("storage_blocks", "", count, Frozen.COUNTED)
    for name, unit, planned, key in (
        ("storage_usd", "USD", usd, price),
        ("storage_kw", "kW", kw, each),
    ):
        how = blocks * facts.input(key) if facts.knows(key) else Frozen.CLASS_VALUE
        at.write(name, unit, planned, how)


def _tiers(at: Place, usd: float, kw: float, tiers: tuple[tuple[str, float], ...]) -> None:
    """Write storage in blocks of a hot tier, and of a cold one if there is one."""
    facts = at.facts
    counts = [
        (tier, at.write(name, "", n, Frozen.COUNTED))
        for name, (tier, n) in zip(("storage_blocks", "cold_storage_blocks"), tiers, strict=False)
    ]
    for name, unit, planned, field in (
        ("storage_usd", "USD", usd, "price_usd"),
        ("storage_kw", "kW", kw, "kw"),
    ):
        keys = [(blocks, f"storage_tiers.{tier}.{field}") for tier, blocks in counts]
        known = all(facts.knows(key) for _, key in keys)
        how = added(blocks * facts.input(key) for blocks, key in keys) if known else None
        at.write(name, unit, planned, how or Frozen.CLASS_VALUE)


def piece_facts(facts: Facts, option: FabricOption, ports: PortClass, catalog: Catalog) -> None:
    """Write price and power of the pieces of a fabric for one NIC class."""
    parts = option.parts[ports]
    family = catalog.get("fabrics", option.family, Fabric)

    def piece(role: str, usd: float, kw: float, price: Term | Frozen, power: Term | Frozen) -> None:
        at = Place(facts, (option.hall, ports.id, role))
        at.write("usd", "USD", usd, price)
        at.write("kw", "kW", kw, power)

    for role, name in zip(("leaf", "spine", "core"), option.switch_models, strict=True):
        key = f"switches.{catalog.get('switches', name, Switch).id}"
        usd, kw = getattr(parts, f"{role}_usd"), getattr(parts, f"{role}_kw")
        piece(role, usd, kw, facts.input(f"{key}.price_usd"), facts.input(f"{key}.typical_kw"))
    leaf = catalog.get("optics", family.leaf_optic, Optic)
    own = catalog.get("optics", family.node_optic, Optic)
    planes = option.designs[ports].planes
    link = min(ports.gbps, family.rate_gbps.value) / planes
    cage = links_per_cage(ports.ports_per_cage, family, planes)
    node = node_transceiver(catalog, (leaf, own), family.protocol, link, cage)[0].id
    for role, name, usd, kw in (
        ("switch optic", family.leaf_optic, parts.leaf_optic_usd, parts.leaf_optic_kw),
        ("node optic", node, parts.node_optic_usd, parts.node_optic_kw),
    ):
        key = f"optics.{catalog.get('optics', name, Optic).id}"
        piece(role, usd, kw, facts.input(f"{key}.price_usd"), facts.input(f"{key}.max_kw"))
    cable = _cable(facts, family, catalog)
    if isinstance(cable, Term) and parts.cord_links != 1.0:
        cable = cable / number(parts.cord_links)
    piece("cable", parts.cable_usd, 0.0, cable, Frozen.PASSIVE)


def _cable(facts: Facts, family: Fabric, catalog: Catalog) -> Term | Frozen:
    """Return the price of a cable: its ends and its length, as far as given."""
    if family.fiber is None:
        return Frozen.NOT_GIVEN
    row = catalog.get("optics", family.fiber, Optic)
    key = f"optics.{row.id}"
    if row.usd_per_m is None:
        return facts.input(f"{key}.price_usd")
    meters = facts.input(f"{key}.usd_per_m") * facts.input("power.cable-length-m")
    return facts.input(f"{key}.price_usd") + meters if row.price_usd else meters

"""Tables of a hall: heat, quarters, water temperature, power blocks, reported sites."""

from __future__ import annotations

from dcplan.answers.facility.feasibility import warmest_c
from dcplan.answers.facility.resolve import ResolvedFacility
from dcplan.catalog.schema import CoolingOption, ReportedSite, Site
from dcplan.facility.electrical.chain import UPS_LOSSES, Branch, branch, efficiencies
from dcplan.facility.pue import sizes
from dcplan.inputs.cooling.losses import hall_losses_frac
from dcplan.inputs.cooling.performance import performance
from dcplan.inputs.cooling.setting import Performance
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.chain import chain_values
from dcplan.result import Table
from dcplan.specs.facility import cooling as specs
from dcplan.specs.facility import hall
from dcplan.units import KW_PER_MW

CLASSES_C = (17.0, 27.0, 32.0, 40.0, 45.0)
"""ASHRAE TC 9.9 facility-water classes W17 to W45, by their warmest supply [°C]."""
COOLING_CLASS = "cooling and lighting"
QUARTER_NAMES = ("Q1", "Q2", "Q3", "Q4")


def heat_kw(option: CoolingOption, resolved: ResolvedFacility) -> tuple[float, float]:
    """Return IT heat into liquid and into air at the requested load [kW]."""
    it_kw = resolved.it_mw * KW_PER_MW * resolved.load
    liquid = (
        it_kw * (1.0 - resolved.air_frac(option)) if option.model and option.takes_liquid else 0.0
    )
    return liquid, it_kw - liquid


def designed_air_frac(option: CoolingOption, resolved: ResolvedFacility) -> float:
    """Return the share of IT heat for which a hall of cold plates has air handlers, else 0."""
    cold_plates = option.model and "liquid" in option.accepts
    return resolved.air_frac(option) if cold_plates else 0.0


def heat_table(option: CoolingOption, resolved: ResolvedFacility) -> Table:
    """Return heat by path, with the capacity of the hall, whose air handlers are sized for the heat."""
    liquid, air = heat_kw(option, resolved)
    it_kw = resolved.it_mw * KW_PER_MW
    paths = (
        ("liquid", liquid, it_kw * option.liquid_share_frac.value),
        ("air", air, it_kw * max(option.air_share_frac.value, designed_air_frac(option, resolved))),
    )
    return specs.HEAT.table(
        specs.HeatRow(path, heat, capacity, heat <= capacity + 1e-6)
        for path, heat, capacity in paths
    )


def quarters_table(found: Performance) -> Table:
    """Return PUE and WUE by quarter."""
    quarters = zip(QUARTER_NAMES, found.quarters, strict=True)
    return specs.QUARTERS.table(specs.QuarterRow(name, *values) for name, values in quarters)


def warm_water_table(option: CoolingOption, resolved: ResolvedFacility, log: InputLog) -> Table:
    """Return the effect of warmer facility water: PUE, water and chillers by ASHRAE class."""
    rows: list[specs.WarmWaterRow] = []
    limits = [warmest_c(option, log)]
    if resolved.system and resolved.system.coolant_supply_max_c and option.takes_liquid:
        limits.append(
            resolved.system.coolant_supply_max_c.value - log.parameter("facility", "cdu-approach-k")
        )
    for supply in (c for c in CLASSES_C if all(most is None or c <= most for most in limits)):
        found = performance(option, resolved.setting(option, log, supply), log)
        rows.append(
            specs.WarmWaterRow(
                water_class=f"W{supply:g}",
                supply_c=supply,
                pue=found.pue.value,
                peak_pue=found.peak_pue,
                wue_l_per_kwh=found.wue_l_per_kwh.value if found.wue_l_per_kwh else None,
                chiller_heat_frac=found.chiller_frac,
            )
        )
    return specs.WARM_WATER.table(rows)


def chain_table(found: Performance, resolved: ResolvedFacility, log: InputLog) -> Table:
    """Return power blocks by load class.

    Compute has one redundancy rule; network, storage and cooling have another. Blocks of racks have
    UPS and busway, those of cooling have neither.
    """
    request = resolved.request
    feeding = resolved.branches(log)
    p = chain_values(feeding, log)
    rules = (request.redundancy, request.other_redundancy)
    racks = zip(("compute", "network and storage"), rules, feeding, (True, True), strict=True)
    other = cooling_branch(found, resolved, log)
    rows: list[hall.PowerBlockRow] = []
    for name, rule, behind, fed in (*racks, (COOLING_CLASS, rules[1], other, False)):
        each = behind.load_frac or None
        at = efficiencies(each, p, behind.ups) if each and fed else None
        rows.append(
            hall.PowerBlockRow(
                load_class=name,
                load_mw=behind.it_frac * resolved.it_mw,
                redundancy=rule,
                blocks=behind.blocks,
                installed_mw=behind.blocks * behind.block_mw,
                block_load_frac=each,
                ups_frac=float(at.ups) if at and UPS_LOSSES[behind.ups] else None,
                transformer_frac=float(at.transformer) if at else None,
                busway_frac=float(at.busway) if at else None,
                chain_frac=float(at.whole) if at else None,
            )
        )
    return hall.POWER_BLOCKS.table(rows)


def cooling_branch(found: Performance, resolved: ResolvedFacility, log: InputLog) -> Branch:
    """Return cooling and lighting on the design day, behind blocks of the other redundancy."""
    counted = resolved.counted_branches(log)
    losses = hall_losses_frac(counted, sizes(resolved.it_mw), log)
    cooling_mw = resolved.it_mw * max(found.peak_pue - found.peak_main_frac - 1.0 - losses, 0.0)
    block_mw = log.parameter("power", "block-mw-default")
    return branch(cooling_mw, resolved.it_mw, block_mw, resolved.request.other_redundancy)


def reported_table(resolved: ResolvedFacility, log: InputLog) -> Table:
    """Return reports of sites at the same place or in the same climate zone, for any cooling.

    They are not used for any fit.
    """
    catalog, here = log.catalog, resolved.where
    sites = catalog.table("sites", Site)
    rows: list[specs.ReportedSiteRow] = []
    for real in catalog.table("reported", ReportedSite).values():
        zone = real.zone or (sites[real.site].climate_zone if real.site else None)
        same_place = here.site is not None and real.site == here.site.id
        if same_place or (here.zone is not None and zone == here.zone):
            rows.append(
                specs.ReportedSiteRow(
                    site=real.name,
                    basis=real.basis,
                    zone=zone,
                    same_place=same_place,
                    pue=real.pue.value,
                    wue_l_per_kwh=real.wue_l_per_kwh.value if real.wue_l_per_kwh else None,
                )
            )
    rows.sort(key=lambda row: (not row.same_place, row.site))
    return specs.REPORTED_SITES.table(rows)

"""Indicators of one site in one year, in the terms of EED and ESRS; each has a value or a reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from dcplan.energy.indicators import SiteYear
from dcplan.specs.sustainability import IndicatorRow
from dcplan.units import KW_PER_MW

WATER = "site water of the cooling options"
EED, E1, E3, ISO = "EED", "ESRS E1", "ESRS E3", "ISO/IEC 30134-8"


@dataclass(frozen=True)
class Known:
    """A value with what it is computed from; without a value, the reason why there is none."""

    value: float | None
    basis: str


@dataclass(frozen=True)
class Report:
    """All that the indicators of one site in one year need."""

    year: str
    site: str
    sums: SiteYear
    installed_it_kw: float
    part: str = ""
    """What the sums leave out of the year; empty for a whole one."""
    floor_m2: Known = field(default_factory=lambda: Known(None, "the floor area is not given"))
    white_m2: Known = field(default_factory=lambda: Known(None, "see `dcplan facility`"))
    water: str = WATER
    heat_c: Known = field(default_factory=lambda: Known(None, "the site sells no heat"))
    heat: str = "the site sells no heat"
    scope1_t: Known = field(default_factory=lambda: Known(0.0, "no plant on the site burns fuel"))
    fuel_mwh: Known = field(default_factory=lambda: Known(0.0, "no plant on the site burns fuel"))
    location_t: Known = field(
        default_factory=lambda: Known(None, "the carbon of the grid is unknown")
    )
    market_t: Known = field(
        default_factory=lambda: Known(None, "the carbon of the grid is unknown")
    )
    capital_t: Known = field(default_factory=lambda: Known(None, "no purchases are counted"))
    stressed_m3: Known = field(default_factory=lambda: Known(None, "not given"))


def rows_of(report: Report) -> Iterator[IndicatorRow]:
    """Yield the indicators of one site in one year: EED, CUE, ESRS E1 and E3."""
    for framework, name, symbol, unit, known in (
        *_inputs(report),
        *_not_modeled(),
        *_ratios(report),
        *_e1(report),
        *_e3(report),
    ):
        basis = known.basis
        if report.part and known.value is not None:
            basis = f"{basis}; {report.part}"
        yield IndicatorRow(
            report.year, report.site, framework, name, symbol, known.value, unit, basis
        )


Line = tuple[str, str, str, str, Known]


def _inputs(r: Report) -> Iterator[Line]:
    """Yield the key performance indicators of annex II that a plan has."""
    s = r.sums
    kwh = KW_PER_MW
    installed = Known(r.installed_it_kw, "rated power of racks, network and storage in service")
    yield EED, "installed information technology power demand", "PD_IT", "kW", installed
    yield EED, "data centre total floor area", "S_DC", "m2", r.floor_m2
    yield EED, "data centre computer room floor area", "S_CR", "m2", r.white_m2
    total = Known(s.total_mwh * kwh, "IT energy times PUE, from grid and plants")
    yield EED, "total energy consumption", "E_DC", "kWh", total
    it = Known(s.it_mwh * kwh, "mean power of racks, network and storage")
    yield EED, "total energy consumption of information technology equipment", "E_IT", "kWh", it
    yield EED, "total water input", "W_IN", "m3", Known(s.water_m3, r.water)
    yield EED, "waste heat reused", "E_REUSE", "kWh", Known(s.reused_mwh * kwh, r.heat)
    yield EED, "average waste heat temperature", "T_WH", "C", r.heat_c
    renewable = Known((s.ppa_mwh + s.own_mwh) * kwh, "contracts and plants of the next three rows")
    yield EED, "total renewable energy consumption", "E_RES-TOT", "kWh", renewable
    bought = Known(0.0, "a plan buys no guarantees of origin without energy")
    yield EED, "renewable energy consumption from guarantees of origin", "E_RES-GOO", "kWh", bought
    ppa = Known(s.ppa_mwh * kwh, "carbon-free contracts, up to the energy from the grid")
    yield EED, "renewable energy consumption from PPAs", "E_RES-PPA", "kWh", ppa
    own = Known(s.own_mwh * kwh, "PV, wind and geothermal power on the site that the load takes")
    yield EED, "renewable energy consumption from on-site renewables", "E_RES-OS", "kWh", own


def _not_modeled() -> Iterator[Line]:
    """Yield the indicators of annex II that no plan can know."""
    for name, symbol, unit, why in (
        ("total potable water input", "W_IN-POT", "m3", "the source of the water is not modeled"),
        ("average battery capacity for grid functions", "C_BtG", "kW", "batteries serve no grid"),
        (
            "average setpoint information technology equipment intake air temperature",
            "T_IN",
            "C",
            "the room is not a decision: see `dcplan facility`",
        ),
        ("types of refrigerants used", "", "", "the refrigerant is not modeled"),
        ("cooling degree days", "CDD", "K d", "take them from the weather service of the site"),
        ("ICT capacity for servers", "C_SERV", "", "no SERT rating of accelerators is published"),
        ("ICT capacity for storage equipment", "C_STOR", "TB", "see the table `storage`"),
        ("incoming and outgoing traffic bandwidth", "B_IN, B_OUT", "Gb/s", "not modeled"),
        ("incoming and outgoing data traffic", "T_IN, T_OUT", "EB", "not modeled"),
    ):
        yield EED, name, symbol, unit, Known(None, why)


def _ratios(r: Report) -> Iterator[Line]:
    """Yield the sustainability indicators of annex III, and CUE."""
    s = r.sums
    idle = "no IT energy in the year"

    def known(value: float | None, basis: str, lacking: str = idle) -> Known:
        return Known(value, lacking if value is None else basis)

    dry = idle if s.water_m3 is not None else r.water
    yield EED, "power usage effectiveness", "PUE", "", known(s.pue, "E_DC / E_IT")
    yield (
        EED,
        "water usage effectiveness",
        "WUE",
        "L/kWh",
        known(s.wue_l_per_kwh, "W_IN / E_IT", dry),
    )
    yield EED, "energy reuse factor", "ERF", "", known(s.erf, f"E_REUSE / E_DC: {r.heat}")
    yield EED, "renewable energy factor", "REF", "", known(s.ref, "E_RES-TOT / E_DC")
    unknown = idle if s.carbon_t is not None else r.location_t.basis
    cue = known(s.cue_kg_per_kwh, "location-based scope 1 and 2 over E_IT", unknown)
    yield ISO, "carbon usage effectiveness", "CUE", "kg/kWh", cue


def _e1(r: Report) -> Iterator[Line]:
    """Yield energy and gross emissions of ESRS E1."""
    s = r.sums
    total = Known(s.total_mwh, "as E_DC, electricity alone")
    yield E1, "total energy consumption from own operations", "E1-5 37", "MWh", total
    yield E1, "fuel consumption from fossil sources", "E1-5 38", "MWh", r.fuel_mwh
    grid = "the generation mix of the grid is not in the catalog"
    yield (
        E1,
        "consumption of electricity from fossil sources",
        "E1-5 38(e)",
        "MWh",
        Known(None, grid),
    )
    yield E1, "consumption from nuclear sources", "E1-5 37(b)", "MWh", Known(None, grid)
    bought = Known(s.ppa_mwh, "as E_RES-PPA; carbon-free contracts count as renewable")
    yield E1, "purchased renewable electricity", "E1-5 37(c)ii", "MWh", bought
    own = Known(s.own_mwh, "as E_RES-OS")
    yield E1, "self-generated renewable energy", "E1-5 37(c)iii", "MWh", own
    yield E1, "gross scope 1 GHG emissions", "E1-6 48(a)", "t CO2e", r.scope1_t
    scope2 = "gross scope 2 GHG emissions"
    yield E1, f"{scope2}, location-based", "E1-6 49(a)", "t CO2e", r.location_t
    yield E1, f"{scope2}, market-based", "E1-6 49(b)", "t CO2e", r.market_t
    yield E1, "scope 3 category 2, capital goods", "E1-6 51", "t CO2e", r.capital_t
    upstream = Known(None, "upstream emissions of fuel and electricity are not modeled")
    yield E1, "scope 3 category 3, fuel- and energy-related", "E1-6 51", "t CO2e", upstream
    rented = Known(None, "rented accelerators: only over the whole plan, `carbon.with_cloud_t`")
    yield E1, "scope 3 category 1, purchased services", "E1-6 51", "t CO2e", rented


def _e3(r: Report) -> Iterator[Line]:
    """Yield the water of ESRS E3."""
    water = Known(r.sums.water_m3, r.water)
    yield E3, "total water withdrawal", "E3-4 AR 32", "m3", water
    split = Known(None, "evaporation and blowdown are not split: at most the withdrawal")
    yield E3, "total water consumption", "E3-4 28(a)", "m3", split
    yield E3, "water withdrawal in areas of high water stress", "E3-4 AR 32", "m3", r.stressed_m3
    recycled = Known(None, "recycled water is not modeled")
    yield E3, "total water recycled and reused", "E3-4 28(c)", "m3", recycled

"""The request of ``dcplan facility`` with its site, weather and system resolved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from dcplan.answers.common.catalog_rows import named
from dcplan.answers.facility.request import CHAIN, FacilityRequest
from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import CoolingOption, PueRow, Site, System
from dcplan.catalog.weather import bins
from dcplan.errors import InputError, Place, Problem
from dcplan.facility.climate import Climate
from dcplan.facility.electrical.chain import Backup, Branch
from dcplan.facility.electrical.supply import Feed
from dcplan.facility.pue import size_class, sizes
from dcplan.inputs.cooling.setting import Setting
from dcplan.inputs.cooling.weather import weather_at, weather_of
from dcplan.inputs.heat_paths import in_tank, room_air_frac
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.chain import branches
from dcplan.inputs.power.lighting import Range, lighting_by_area
from dcplan.inputs.power.transformers import feed_of
from dcplan.inputs.power.weather import weather_of_file
from dcplan.units import W_PER_KW

POOLED = "all"
"""Zone of the rows for all zones."""


@dataclass(frozen=True)
class Where:
    """A site with its weather."""

    name: str
    zone: str | None
    climate: Climate | None
    """None in tabulated zones without weather."""
    site: Site | None


@dataclass(frozen=True)
class ResolvedFacility:
    """One hall at one site."""

    request: FacilityRequest
    where: Where
    system: System | None
    other_frac: float
    """Share of IT power in network and storage racks, which are air-cooled."""

    @property
    def it_mw(self) -> float:
        """Design IT power of the hall [MW]."""
        return self.request.it_mw

    @property
    def load(self) -> float:
        """IT power over the design IT power."""
        return self.request.load_frac

    @property
    def size(self) -> str:
        """Size class of the hall."""
        return size_class(self.it_mw)

    def under(self, option: CoolingOption, log: InputLog) -> ResolvedFacility:
        """Return the request with the system as it runs under the option: without fans in a tank."""
        return replace(self, system=in_tank(self.system, option, log)) if self.system else self

    def setting(
        self, option: CoolingOption, log: InputLog, supply_c: float | None = None
    ) -> Setting:
        """Return the option at this site; ``supply_c`` overrides the facility water temperature.

        For a liquid-cooled system, or one in a tank, without a given temperature, the water temperature is the
        catalog's coolant supply temperature less the distribution unit's approach.
        """
        given = self.request.supply_c if supply_c is None else supply_c
        usual = option.coolant_supply_c
        if (
            given is None
            and usual
            and option.model
            and self.system
            and (option.tank or "liquid" in self.system.cooling_modes)
        ):
            coolant = log.take(f"cooling.{option.id}.coolant_supply_c", usual)
            given = coolant - log.parameter("facility", "cdu-approach-k")
        w = self.where
        return Setting(
            w.name,
            w.zone,
            w.climate,
            sizes(self.it_mw),
            self.air_frac(option),
            self.load,
            given,
            self.counted_branches(log),
            self.lighting(option, log),
            self.feed(log),
        )

    def distribution_kv(self, log: InputLog) -> float:
        """Return the voltage of the distribution: given, that of a medium-voltage utility, or a class value.

        Raises
        ------
        InputError
            When the utility's voltage is below that of the distribution.
        """
        utility, own = self.request.utility_kv, self.request.medium_kv
        if own is None and utility is not None:
            most = log.parameter("facility", "medium-most-kv")
            own = utility if utility <= most else None
        kv = log.parameter("facility", "medium-kv") if own is None else own
        if utility is not None and utility < kv:
            cause = f"{utility:g} kV from the utility is below the {kv:g} kV of the distribution"
            step = f"--medium-kv {utility:g}"
            raise InputError([Problem("DC062", cause, Place("--utility-kv"), help=step)])
        return kv

    def feed(self, log: InputLog) -> Feed | None:
        """Return the main transformers, whose losses are in the PUE; None without any."""
        utility = self.request.utility_kv
        if utility is None or utility <= (kv := self.distribution_kv(log)):
            return None
        return feed_of(self.it_mw, kv * W_PER_KW, self.request.redundancy, log)

    def lighting(self, option: CoolingOption, log: InputLog) -> Range | None:
        """Return lighting over IT power by floor area; None where that of the size class counts."""
        if self.request.electrical_losses != CHAIN or option.model is None:
            return None
        return lighting_by_area(self.system, option, self.other_frac, log)

    def branches(self, log: InputLog) -> tuple[Branch, ...]:
        """Return compute, and network with storage, behind their power blocks."""
        asked = self.request
        backups = (
            Backup(asked.redundancy, asked.ups),
            Backup(asked.other_redundancy, asked.other_ups),
        )
        block_mw = log.parameter("power", "block-mw-default")
        return branches(self.it_mw, self.other_frac, backups, block_mw)

    def counted_branches(self, log: InputLog) -> tuple[Branch, ...]:
        """Return the load classes whose losses are in the PUE; none for losses of the size class."""
        return self.branches(log) if self.request.electrical_losses == CHAIN else ()

    def air_frac(self, option: CoolingOption) -> float:
        """Return the share of heat that room fans move."""
        return room_air_frac(self.system, option, self.other_frac, self.request.liquid_frac)


def resolve(request: FacilityRequest, log: InputLog) -> ResolvedFacility:
    """Resolve the site, its weather and the system.

    Raises
    ------
    InputError
        When a name is unknown, or the site has no weather.
    """
    catalog, name = log.catalog, request.system
    system = named(catalog, "systems", name, System, "--system") if name else None
    other = log.parameter("facility", "network-storage-share")
    place = _where(request.site, request.climate_zone, request.epw, catalog)
    return ResolvedFacility(request, place, system, other)


def _where(site: str | None, zone: str | None, epw: str | None, catalog: Catalog) -> Where:
    """Return the weather of a site, a climate zone's city, or a file."""
    given = [
        flag
        for flag, value in (("--site", site), ("--climate-zone", zone), ("--epw", epw))
        if value
    ]
    if len(given) != 1:
        what = f"{' and '.join(given)} are given" if given else "none of them is given"
        cause = f"exactly one of --site, --climate-zone and --epw is required, but {what}"
        step = "leave out all but one" if given else "--site us-ashburn"
        raise InputError([Problem("DC062", cause, Place("facility"), help=step)])
    if epw:
        weather = weather_of_file(Path(epw))
        return Where(weather.place, None, weather, None)
    if zone:
        key = f"zone-{zone.upper()}"
        tabulated = {row.zone for row in catalog.table("pue", PueRow).values()}
        if key not in bins() and zone.upper() in tabulated - {POOLED}:
            return Where(key, zone.upper(), None, None)
        return Where(key, zone.upper(), _from_bins(key), None)
    row = named(catalog, "sites", site or "", Site, "--site")
    found = weather_at(row)
    if found is None:
        zone_id = row.climate_zone or "(unknown)"
        cause = f"the catalog has no weather for {row.id} or its zone {zone_id}"
        raise InputError(
            [
                Problem(
                    "DC060",
                    cause,
                    Place("--site"),
                    help="use --climate-zone, or --epw with a weather file",
                )
            ]
        )
    return Where(row.id, row.climate_zone, found, row)


def _from_bins(key: str) -> Climate:
    found = weather_of(key, None, None)
    if found is None:
        zones = sorted(k.removeprefix("zone-") for k in bins() if k.startswith("zone-"))
        cause = (
            f"no weather for zone {key.removeprefix('zone-')}: zones with weather are "
            f"{', '.join(zones)}"
        )
        raise InputError([Problem("DC060", cause, Place("--climate-zone"))])
    return found

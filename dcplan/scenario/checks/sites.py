"""Checks of a site: data of its location, tariff, halls, plants and contracts."""

from __future__ import annotations

from dcplan.catalog.schema import Site as CatalogSite
from dcplan.catalog.weather import bins
from dcplan.provenance import Path
from dcplan.scenario.checks.checker import Checker
from dcplan.scenario.checks.comparison import check_tariff
from dcplan.scenario.checks.halls import check_hall
from dcplan.scenario.checks.plants import check_contract, check_plant, check_unused
from dcplan.scenario.schema import Site

TABULATED = ("8",)
"""Zones without weather data, which have tabulated options."""


def check_site(check: Checker, site: Site, path: Path) -> None:
    """Check one site of a scenario with its halls, plants and contracts."""
    _check_location(check, site, path)
    check_unused(check, site, path)
    _check_land(check, site, (*path, "land"))
    check_tariff(check, site.energy, (*path, "energy"))
    check.unique((h.id for h in site.halls), (*path, "halls"))
    for j, hall in enumerate(site.halls):
        check_hall(check, site, hall, (*path, "halls", j))
    check.unique((x.id for x in site.interruptible), (*path, "interruptible"))
    check.unique((x.id for x in site.onsite), (*path, "onsite"))
    for i, tranche in enumerate(site.interruptible):
        where = (*path, "interruptible", i, "available_from")
        check.in_horizon(tranche.id, tranche.available_from, where, earlier=True)
    for i, entry in enumerate(site.onsite):
        check_plant(check, entry, site, (*path, "onsite", i))
    check.unique((x.id for x in site.ppa), (*path, "ppa"))
    for i, contract in enumerate(site.ppa):
        check_contract(check, contract, (*path, "ppa", i))


def _check_land(check: Checker, site: Site, path: Path) -> None:
    """Check that land has one price, and that the site has land to buy."""
    land = site.land
    if land is None:
        return
    by_area = land.area_m2 is not None, land.usd_per_m2 is not None
    whole = land.usd is not None
    held = "is leased" if site.lease is not None else ""
    if any(hall.existing for hall in site.halls):
        held = "has a hall that exists"
    for wrong, cause, step in (
        (
            any(by_area) != all(by_area),
            "land has an area without a price of a square meter, or a price without an area",
            "give both area_m2 and usd_per_m2",
        ),
        (whole and any(by_area), "land has two prices", "give usd, or area_m2 and usd_per_m2"),
        (
            not whole and not any(by_area),
            "land has no price",
            "give usd, or area_m2 and usd_per_m2",
        ),
        (
            bool(held),
            f"the site {held}, so that the plan buys no land for it",
            "remove land; land_usd is the assessed value for the property tax",
        ),
    ):
        if wrong:
            check.add("DC015", f"{site.id}: {cause}", path, help=step)


def _check_location(check: Checker, site: Site, path: Path) -> None:
    """Check that weather, energy price and grid carbon are in the catalog or in the scenario."""
    row = check.catalog.find("sites", site.location, CatalogSite)
    if row is None:
        return
    if not (site.climate_zone or row.climate_zone):
        check.add("DC003", f"{site.id}: {row.id} has no climate zone; give climate_zone", path)
    zone = site.climate_zone or row.climate_zone
    known = (row.climate and not site.climate_zone) or f"zone-{zone}" in bins() or zone in TABULATED
    if zone and not known and any(h.pue is None or h.peak_pue is None for h in site.halls):
        cause = f"{site.id}: the catalog has no weather of {row.id} or its zone {zone}"
        help_text = "give climate_zone, or pue and peak_pue of each hall"
        check.add("DC003", cause, (*path, "location"), help=help_text)
    own = site.energy.usd_per_kwh or site.energy.time_of_use or site.energy.tiers
    if not own and row.usd_per_kwh is None:
        check.add(
            "DC003", f"{site.id}: {row.id} has no energy price; give energy.usd_per_kwh", path
        )
    if (
        site.carbon.grid_g_per_kwh is None
        and row.grid_g_per_kwh is None
        and row.grid_lifecycle_g_per_kwh is None
    ):
        check.add(
            "DC003", f"{site.id}: {row.id} has no grid carbon; give carbon.grid_g_per_kwh", path
        )

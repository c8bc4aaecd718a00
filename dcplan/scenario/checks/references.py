"""Checks that every id of a scenario exists and that its values are consistent."""

from __future__ import annotations

from typing import Any

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Accelerator, Offer, Region, Row, StorageTier, System
from dcplan.catalog.schema import Site as CatalogSite
from dcplan.catalog.schema.market import TERMS
from dcplan.catalog.weather import bins
from dcplan.errors import Problem, did_you_mean
from dcplan.provenance import Path
from dcplan.scenario.checks.checker import Checker
from dcplan.scenario.checks.comparison import check_comparison, check_tariff
from dcplan.scenario.checks.existing import check_existing
from dcplan.scenario.checks.halls import check_hall
from dcplan.scenario.checks.links import check_links
from dcplan.scenario.checks.plants import (
    check_contract,
    check_interrupted_runs,
    check_plant,
    check_unused,
)
from dcplan.scenario.checks.queue import check_queue
from dcplan.scenario.checks.services import check_service
from dcplan.scenario.checks.tax import check_tax
from dcplan.scenario.names import unknown_names, wrong_lengths
from dcplan.scenario.schema import Demand, Scenario, ScheduledJob, Site
from dcplan.scenario.tree import Tree
from dcplan.units import quarter_index


def price_changes(
    scenario: Scenario, catalog: Catalog, tree: Tree
) -> tuple[dict[str, dict[str, dict[str, Any]]], list[Problem]]:
    """Sort ``prices:`` by catalog kind; an id that is in no kind is a problem."""
    changes: dict[str, dict[str, dict[str, Any]]] = {}
    problems = []
    for reference, fields in scenario.prices.items():
        kinds = catalog.kinds_of(reference)
        if not kinds:
            known = [key for table in catalog.rows.values() for key in table]
            cause = f"prices: no catalog row {reference!r}"
            problems.append(
                tree.problem(
                    "DC010",
                    cause,
                    ("prices", reference),
                    key=True,
                    hint=did_you_mean(reference, known),
                    help="dcplan catalog list",
                )
            )
            continue
        changes.setdefault(kinds[0], {})[reference] = fields
    return changes, problems


TABULATED = ("8",)
"""Zones without weather data, which have tabulated options."""


def check_references(scenario: Scenario, catalog: Catalog, tree: Tree) -> list[Problem]:
    """Return all reference, length and consistency problems of a scenario."""
    check = Checker(scenario, catalog, tree)
    check.problems += [*unknown_names(tree, catalog), *wrong_lengths(tree)]
    check.unique((s.id for s in scenario.sites), ("sites",))
    for i, site in enumerate(scenario.sites):
        _check_site(check, site, ("sites", i))
        seen: set[str] = set()
    for i, entry in enumerate(scenario.supply):
        row = catalog.find("systems", entry.system, System)
        if row is not None and row.id in seen:
            check.add(
                "DC011",
                f"supply: {entry.system!r} occurs twice; give one entry with a list by quarter",
                ("supply", i, "system"),
            )
        seen |= {row.id} if row else set()
    _check_fleet(check)
    check_existing(check)
    check_links(check)
    check_interrupted_runs(check)
    _check_vendors(check)
    _check_hedge(check)
    _check_work(check)
    check_queue(check)
    _check_cloud(check)
    _check_storage(check)
    check_comparison(check)
    check_tax(check)
    check.unique((e.id for e in scenario.expect), ("expect",))
    return check.problems


def _check_site(check: Checker, site: Site, path: Path) -> None:
    row = check.catalog.find("sites", site.location, CatalogSite)
    if row is not None:
        if not (site.climate_zone or row.climate_zone):
            check.add("DC003", f"{site.id}: {row.id} has no climate zone; give climate_zone", path)
        zone = site.climate_zone or row.climate_zone
        known = (
            (row.climate and not site.climate_zone) or f"zone-{zone}" in bins() or zone in TABULATED
        )
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
    check_unused(check, site, path)
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


def makers(system: System, catalog: Catalog) -> tuple[str, ...]:
    """Return the makers of a system and of its accelerators."""
    chip = catalog.find("accelerators", system.accelerator, Accelerator)
    return tuple(dict.fromkeys(x for x in (system.vendor, chip.vendor if chip else None) if x))


def _check_vendors(check: Checker) -> None:
    known = {
        m for s in check.catalog.table("systems", System).values() for m in makers(s, check.catalog)
    }
    for name in check.scenario.vendor_share_max:
        if name not in known:
            hint = did_you_mean(name, sorted(known))
            check.add(
                "DC010", f"no vendor {name!r} in the catalog", ("vendor_share_max", name), hint=hint
            )


def _check_hedge(check: Checker) -> None:
    asked = check.scenario.uncertainty
    if asked is None or asked.hedge is None:
        return
    path = ("uncertainty", "hedge")
    for name in asked.hedge.weights:
        check.one_of(name, ["base", *check.scenario.scenarios], "variant", (*path, "weights", name))
    check.in_horizon("hedge", asked.hedge.through, (*path, "through"), earlier=False)


def _check_fleet(check: Checker) -> None:
    fleet = check.scenario.fleet
    if fleet is None:
        return
    sites = {s.id: s for s in check.scenario.sites}
    if fleet.site:
        check.one_of(fleet.site, sites, "site", ("fleet", "site"))
    elif len(sites) > 1:
        check.add("DC003", "fleet: name the site; the scenario has several", ("fleet",))
    site = sites.get(fleet.site or "") or check.scenario.sites[0]
    if fleet.hall:
        check.one_of(fleet.hall, [h.id for h in site.halls], "hall", ("fleet", "hall"))
    elif len(site.halls) > 1:
        check.add("DC003", "fleet: name the hall; the site has several", ("fleet",))
    system = check.catalog.find("systems", fleet.system, System)
    if system and fleet.accelerators % system.accelerators:
        cause = f"fleet: {fleet.accelerators} accelerators are not a multiple of {system.accelerators} ({system.id})"
        check.add("DC015", cause, ("fleet", "accelerators"))


def _check_work(check: Checker) -> None:
    scenario = check.scenario
    sites = [s.id for s in scenario.sites]
    work = scenario.workloads
    for kind, jobs in (("training", work.training), ("post_training", work.post_training)):
        check.unique((j.id for j in jobs), ("workloads", kind))
        for i, job in enumerate(jobs):
            _check_job(check, job, sites, ("workloads", kind, i))
    check.unique((c.id for c in work.capacity), ("workloads", "capacity"))
    taken = [j.id for j in work.training]
    for kind, ids in (
        ("post_training", [j.id for j in work.post_training]),
        ("capacity", [c.id for c in work.capacity]),
    ):
        for i, key in enumerate(ids):
            if key in taken:
                check.add("DC011", f"the id {key!r} occurs twice", ("workloads", kind, i, "id"))
        taken += ids
    for i, entry in enumerate(work.inference):
        if entry.id in taken:
            check.add(
                "DC011", f"the id {entry.id!r} occurs twice", ("workloads", "inference", i, "id")
            )
        taken.append(entry.id)
        check_service(check, entry, ("workloads", "inference", i))
        for k, region in enumerate(entry.regions):
            where = ("workloads", "inference", i, "regions", k)
            _check_countries(check, region.countries, where)
        for name in entry.tokens_per_s_per_accelerator:
            _check_server(
                check, name, ("workloads", "inference", i, "tokens_per_s_per_accelerator", name)
            )
    demands = (("capacity", work.capacity), ("inference", work.inference), ("queue", work.queue))
    for kind, found in demands:
        for i, demand in enumerate(found):
            _check_demand(check, demand, ("workloads", kind, i))


def _check_job(check: Checker, job: ScheduledJob, sites: list[str], path: Path) -> None:
    """Check the countries, sites and quarters of a job."""
    _check_countries(check, job.countries, path)
    for k, name in enumerate(job.sites or ()):
        check.one_of(name, sites, "site", (*path, "sites", k))
    for key, quarter in (("start", job.start), ("deadline", job.deadline)):
        check.in_horizon(job.id, quarter, (*path, key), earlier=False)
    if job.start and job.deadline and quarter_index(job.start) > quarter_index(job.deadline):
        check.add("DC015", f"{job.id}: starts after its deadline", (*path, "start"))


def _check_countries(check: Checker, countries: tuple[str, ...] | None, path: Path) -> None:
    """Check that each country has a site or cloud region in the catalog."""
    known = {s.country for s in check.catalog.table("sites", CatalogSite).values()}
    known |= {r.country for r in check.catalog.table("regions", Region).values()}
    for k, name in enumerate(countries or ()):
        if name.upper() not in known:
            cause = f"the catalog has no site or cloud region in {name!r}; give countries as two letters"
            check.add(
                "DC010",
                cause,
                (*path, "countries", k),
                hint=did_you_mean(name.upper(), sorted(known)),
            )


def _check_demand(check: Checker, demand: Demand, path: Path) -> None:
    _check_countries(check, demand.countries, path)
    for k, name in enumerate(demand.sites or ()):
        check.one_of(name, [s.id for s in check.scenario.sites], "site", (*path, "sites", k))
    for k, name in enumerate(demand.systems or ()):
        _check_server(check, name, (*path, "systems", k))


def _check_server(check: Checker, name: str, path: Path) -> None:
    """Check that a name is a system, an accelerator or a cloud offer."""
    kinds = ("systems", "accelerators", "cloud")
    if all(check.catalog.find(kind, name, Row) is None for kind in kinds):
        known = [key for kind in kinds for key in check.catalog.rows[kind]]
        check.add(
            "DC010",
            f"unknown system, accelerator or offer {name!r}",
            path,
            hint=did_you_mean(name, known),
        )


def _check_storage(check: Checker) -> None:
    """Check that a storage has either a given tier or tiers to choose from."""
    storage = check.scenario.storage
    if storage is None:
        return
    if storage.tiers is None:
        if storage.hot_frac is not None:
            cause = "storage.hot_frac divides data between tiers, and no tiers are given"
            check.add("DC015", cause, ("storage", "hot_frac"), help="give storage.tiers")
        return
    for name, given in (("tier", storage.tier), ("usable_pb", storage.usable_pb)):
        if given is not None:
            cause = f"storage.{name} fixes what storage.tiers leaves to the plan: give one of them"
            check.add("DC015", cause, ("storage", "tiers"))
    for i, name in enumerate(storage.tiers if storage.tiers != "all" else ()):
        row = check.catalog.find("storage_tiers", name, StorageTier)
        if row is not None and row.kind == "local":
            cause = f"{row.id} is part of the nodes and their price; it is not shared storage"
            check.add("DC015", cause, ("storage", "tiers", i))
    if storage.tiers == ():
        check.add("DC003", "storage.tiers is empty: name tiers, or `all`", ("storage", "tiers"))


def _check_cloud(check: Checker) -> None:
    cloud = check.scenario.cloud
    if cloud is None:
        return
    first: dict[tuple[str, str], str] = {}
    for reference, prices in cloud.prices.items():
        check.need("cloud", reference, Offer, ("cloud", "prices", reference))
        row = check.catalog.find("cloud", reference, Offer)
        for key in prices if row is not None else ():
            other = first.setdefault((row.id if row else "", key), reference)
            if other != reference:
                cause = f"{reference} is another name of {other}; {key} is given twice"
                check.add("DC015", cause, ("cloud", "prices", reference, key))
        for key in prices:
            known = [f"{term.replace('-', '_')}_usd_per_h" for term in TERMS]
            if key not in known:
                path = ("cloud", "prices", reference, key)
                check.problems.append(
                    check.tree.problem(
                        "DC002",
                        f"{key}: unknown price",
                        path,
                        key=True,
                        hint=did_you_mean(key, known),
                    )
                )

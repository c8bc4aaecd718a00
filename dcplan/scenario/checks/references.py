"""Checks that every id of a scenario exists and that its values are consistent."""

from __future__ import annotations

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Accelerator, StorageTier, System
from dcplan.errors import Problem, did_you_mean
from dcplan.scenario.checks.checker import Checker
from dcplan.scenario.checks.comparison import check_comparison
from dcplan.scenario.checks.existing import check_existing
from dcplan.scenario.checks.links import check_links
from dcplan.scenario.checks.plants import check_interrupted_runs
from dcplan.scenario.checks.prices import check_cloud_prices
from dcplan.scenario.checks.queue import check_queue
from dcplan.scenario.checks.sites import check_site
from dcplan.scenario.checks.tax import check_tax
from dcplan.scenario.checks.work import check_work
from dcplan.scenario.names import unknown_names, wrong_lengths
from dcplan.scenario.schema import Scenario
from dcplan.scenario.tree import Tree


def check_references(scenario: Scenario, catalog: Catalog, tree: Tree) -> list[Problem]:
    """Return all reference, length and consistency problems of a scenario."""
    check = Checker(scenario, catalog, tree)
    check.problems += [*unknown_names(tree, catalog), *wrong_lengths(tree)]
    check.unique((s.id for s in scenario.sites), ("sites",))
    for i, site in enumerate(scenario.sites):
        check_site(check, site, ("sites", i))
    _check_supply(check)
    _check_fleet(check)
    check_existing(check)
    check_links(check)
    check_interrupted_runs(check)
    _check_vendors(check)
    _check_hedge(check)
    check_work(check)
    check_queue(check)
    check_cloud_prices(check)
    _check_storage(check)
    check_comparison(check)
    check_tax(check)
    check.unique((x.id for x in scenario.finance.leases), ("finance", "leases"))
    check.unique((e.id for e in scenario.expect), ("expect",))
    return check.problems


def _check_supply(check: Checker) -> None:
    """Check that a system has one entry of supply, also under another of its names."""
    seen: set[str] = set()
    for i, entry in enumerate(check.scenario.supply):
        row = check.catalog.find("systems", entry.system, System)
        if row is not None and row.id in seen:
            check.add(
                "DC011",
                f"supply: {entry.system!r} occurs twice; give one entry with a list by quarter",
                ("supply", i, "system"),
            )
        seen |= {row.id} if row else set()


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

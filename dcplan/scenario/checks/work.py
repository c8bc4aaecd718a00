"""Checks of jobs, capacities and services: unique ids, places, countries and hardware."""

from __future__ import annotations

from dcplan.catalog.schema import Region, Row
from dcplan.catalog.schema import Site as CatalogSite
from dcplan.errors import did_you_mean
from dcplan.provenance import Path
from dcplan.scenario.checks.checker import Checker
from dcplan.scenario.checks.services import check_service
from dcplan.scenario.schema import Demand, ScheduledJob
from dcplan.units import quarter_index


def check_work(check: Checker) -> None:
    """Check the jobs, capacities and services of a scenario, and that their ids differ."""
    scenario = check.scenario
    sites = [s.id for s in scenario.sites]
    work = scenario.workloads
    for kind, jobs in (("training", work.training), ("post_training", work.post_training)):
        check.unique((j.id for j in jobs), ("workloads", kind))
        for i, job in enumerate(jobs):
            _check_job(check, job, sites, ("workloads", kind, i))
    if scenario.reliability.pool_spares and len(work.training) + len(work.post_training) < 2:
        cause = "pool_spares has no effect, because fewer than two runs can share spares"
        step = "remove reliability.pool_spares, or give a second run"
        check.add("DC015", cause, ("reliability", "pool_spares"), help=step)
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
    """Check the countries, sites and systems of a capacity or a service."""
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

"""Checks of plants on the site against their catalog rows, and of contracts for power."""

from __future__ import annotations

from dcplan.catalog.schema import OnsitePower
from dcplan.catalog.schema.place import WEATHER_KINDS
from dcplan.provenance import Path
from dcplan.scenario.checks.checker import Checker
from dcplan.scenario.schema import Onsite, PowerContract, Site, job_path
from dcplan.scenario.schema.places.energy import STEP_MW
from dcplan.scenario.schema.places.site import SPARE_UNITS


def check_plant(check: Checker, entry: Onsite, site: Site, path: Path) -> None:
    """Report a plant that a plan cannot have, or that has fields of another kind."""
    plant = check.catalog.find("onsite", entry.id, OnsitePower)
    if plant is None:
        return
    if plant.kind == "battery":
        _check_battery(check, entry, site, path)
        return
    if entry.peak_h is not None:
        cause = f"{entry.id} is no battery, so it has no hours of a peak"
        check.add("DC015", cause, (*path, "peak_h"), help="leave peak_h out")
    weather = plant.kind in WEATHER_KINDS
    _check_weather(check, entry, path, weather=weather)
    spare = 0 if weather else SPARE_UNITS if entry.spare_units is None else entry.spare_units
    if plant.unit_mw is None:
        check.add("DC003", f"{entry.id}: the catalog has no unit_mw", (*path, "id"))
    elif entry.max_mw.value < plant.unit_mw.value * (spare + 1):
        unit = f"{plant.unit_mw.value:g} MW"
        cause = f"{entry.id}: {entry.max_mw.value:g} MW is less than one unit of {unit} plus {spare} spare units"
        check.add("DC015", cause, (*path, "max_mw"), help="raise max_mw, or lower spare_units")


def _check_battery(check: Checker, entry: Onsite, site: Site, path: Path) -> None:
    """Report a battery that has nothing to carry, or fields that a battery does not have."""
    carried = any(x.event_h is not None for x in site.interruptible)
    if entry.peak_h is None and not carried and site.ramp_limit_mw_per_min is None:
        cause = f"{entry.id} stores energy but does not generate it, and has nothing to carry"
        step = (
            "give peak_h, the hours a day that the peak of the site lasts, event_h of an interruptible "
            "tranche, or ramp_limit_mw_per_min of the site"
        )
        check.add("DC015", cause, (*path, "id"), help=step)
    for name in ("profile", "usd_per_mwh", "spare_units", "permit_hours_per_year"):
        if getattr(entry, name) is not None:
            cause = f"{entry.id} is a battery, so it has no {name}"
            check.add("DC015", cause, (*path, name), help=f"leave {name} out")
    row = check.catalog.get("onsite", entry.id, OnsitePower)
    if row.unit_mw is None:
        check.add("DC003", f"{entry.id}: the catalog has no unit_mw", (*path, "id"))
    elif entry.max_mw.value < row.unit_mw.value:
        cause = f"{entry.id}: {entry.max_mw.value:g} MW is less than one unit of {row.unit_mw.value:g} MW"
        check.add("DC015", cause, (*path, "max_mw"), help="raise max_mw")


def _check_weather(check: Checker, entry: Onsite, path: Path, *, weather: bool) -> None:
    """Report fields that PV and wind need, and those that they, or other plants, do not have."""
    if weather and entry.profile is None:
        cause = f"{entry.id} needs its output by hour: dcplan has neither sunshine nor wind of a location"
        step = (
            "profile: FILE, a CSV with 8,760 capacity factors, as PVWatts or renewables.ninja give"
        )
        check.add("DC003", cause, path, help=step)
    if weather and entry.spare_units:
        cause = f"{entry.id} has no spare units: its output is that of its profile"
        check.add("DC015", cause, (*path, "spare_units"), help="leave spare_units out")
    if weather and entry.permit_hours_per_year is not None:
        cause = f"{entry.id} has the hours of its profile, and no permit limits them"
        step = "leave permit_hours_per_year out"
        check.add("DC015", cause, (*path, "permit_hours_per_year"), help=step)
    if not weather and entry.profile is not None:
        cause = f"{entry.id} gives power when the load needs it, so it has no profile"
        check.add("DC015", cause, (*path, "profile"), help="leave the profile out")


def check_contract(check: Checker, entry: PowerContract, path: Path) -> None:
    """Report a contract without its hours, with two prices of surplus, less than one step, or too late."""
    by_profile = entry.kind == "as_produced"
    if by_profile and entry.profile is None:
        cause = f"{entry.id} needs the output of its plant by hour"
        step = (
            "profile: FILE, a CSV with 8,760 capacity factors, as PVWatts or renewables.ninja give"
        )
        check.add("DC003", cause, path, help=step)
    if not by_profile and entry.profile is not None:
        cause = f"{entry.id} has the same power in every hour, so it has no profile"
        check.add("DC015", cause, (*path, "profile"), help="leave the profile out")
    if entry.surplus_frac is not None and entry.surplus_usd_per_mwh is not None:
        cause = f"{entry.id} has two prices of its surplus"
        step = "give surplus_usd_per_mwh or surplus_frac, not both"
        check.add("DC015", cause, (*path, "surplus_frac"), help=step)
    where = (*path, "available_from")
    check.in_horizon(entry.id, entry.available_from, where, earlier=True)
    step_mw = entry.step_mw.value if entry.step_mw else STEP_MW
    if entry.max_mw.value < step_mw:
        cause = f"{entry.id}: {entry.max_mw.value:g} MW is less than one step of {step_mw:g} MW"
        check.add("DC015", cause, (*path, "max_mw"), help="raise max_mw, or give a smaller step_mw")


def check_unused(check: Checker, site: Site, path: Path) -> None:
    """Report fields of energy that have no effect without another one."""
    carbon = site.carbon
    if carbon.basis is not None and carbon.usd_per_t is None:
        cause = f"{site.id}: carbon.basis has no effect without a price"
        check.add("DC015", cause, (*path, "carbon", "basis"), help="give carbon.usd_per_t")
    if carbon.residual_g_per_kwh is not None and not (site.ppa or carbon.basis == "market"):
        cause = (
            f"{site.id}: the residual mix has no effect without contracts or a market-based price"
        )
        step = "give ppa, or carbon.basis: market with carbon.usd_per_t"
        check.add("DC015", cause, (*path, "carbon", "residual_g_per_kwh"), help=step)
    if site.paused_racks and not (site.interruptible or site.demand_response):
        cause = f"{site.id}: paused_racks has no effect, because the site has no interruptions"
        step = "give an interruptible tranche or demand_response, or leave it out"
        check.add("DC015", cause, (*path, "paused_racks"), help=step)
    if site.ramp_limit_mw_per_min and not check.scenario.workloads.jobs:
        cause = f"{site.id}: ramp_limit_mw_per_min has no effect, because there is no run"
        step = "give a run in workloads, or leave it out"
        check.add("DC015", cause, (*path, "ramp_limit_mw_per_min"), help=step)
    kinds = [check.catalog.find("onsite", x.id, OnsitePower) for x in site.onsite]
    clean = any(x.carbon_free for x in site.ppa) or any(
        x is not None and x.kind in WEATHER_KINDS for x in kinds
    )
    if (site.matched_share_min.annual or site.matched_share_min.hourly) and not clean:
        cause = (
            f"{site.id}: no contract, PV or wind gives the carbon-free energy of matched_share_min"
        )
        step = "give a carbon-free contract in ppa, or PV or wind in onsite"
        check.add("DC015", cause, (*path, "matched_share_min"), help=step)
    pauses = any(x.interrupted_power_frac != 1.0 for x in check.scenario.workloads.jobs)
    if pauses or any(x is not None and x.kind == "battery" for x in kinds):
        return
    for i, tranche in enumerate(site.interruptible):
        if tranche.event_h is not None:
            cause = f"{tranche.id}: event_h has no effect without a battery on the site or a run that pauses"
            step = "give a battery in onsite, or leave event_h out"
            check.add("DC015", cause, (*path, "interruptible", i, "event_h"), help=step)


def check_interrupted_runs(check: Checker) -> None:
    """Report runs that state what they do in interruptions, where no site has any."""
    scenario = check.scenario
    if any(site.interruptible or site.demand_response for site in scenario.sites):
        return
    for job in scenario.workloads.jobs:
        for name in ("interrupted_power_frac", "interrupted_speed_frac"):
            if getattr(job, name) is not None:
                cause = f"{job.id}: {name} has no effect, because no site has interruptions"
                step = "give a site an interruptible tranche or demand_response, or leave it out"
                check.add("DC015", cause, (*job_path(job.id, scenario), name), help=step)

"""Building of the planning problem from scenario and catalog, with values of the physics rooms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dcplan import garbage
from dcplan.catalog.schema import OnsitePower, System
from dcplan.errors import InputError
from dcplan.inputs.cloud_prices import StoredWork, extras_of
from dcplan.inputs.cloud_prices import offers as cloud_offers
from dcplan.inputs.cloud_prices.accompanying import LEFT_OUT, stand_in_notes
from dcplan.inputs.excluded import ExcludedOption, Kind
from dcplan.inputs.leases import refuse_leases
from dcplan.inputs.log import InputLog
from dcplan.inputs.power.embodied import Footprints, footprints
from dcplan.planning.problem.contracts import traded
from dcplan.planning.problem.delays import start_delays
from dcplan.planning.problem.existing.delays import delays
from dcplan.planning.problem.existing.fit_out import with_existing_fit_out
from dcplan.planning.problem.finance import refuse_profit
from dcplan.planning.problem.hardware import Hardware, hardware_of
from dcplan.planning.problem.notes import notes_of
from dcplan.planning.problem.places.site import site_terms
from dcplan.planning.problem.storage import PlanStorage
from dcplan.planning.problem.systems import parts_terms, supply_terms
from dcplan.planning.problem.terms import PlanningProblem, SiteTerms
from dcplan.planning.problem.terms.links import LinkTerms
from dcplan.planning.problem.water_rights import with_rights
from dcplan.planning.problem.work.demand_terms import demand_terms
from dcplan.planning.problem.work.demands import Demands
from dcplan.planning.problem.work.interrupted import interrupted
from dcplan.planning.problem.work.jobs.candidates import JobCandidates
from dcplan.planning.problem.work.jobs.job_terms import job_terms
from dcplan.planning.problem.work.jobs.larger import Larger
from dcplan.planning.problem.work.jobs.soonest import planned
from dcplan.planning.problem.work.ramps import with_ramps
from dcplan.planning.problem.work.reference import ReferenceRates
from dcplan.planning.problem.work.residency import countries_of, resident
from dcplan.planning.problem.work.spans import spans_of
from dcplan.planning.problem.work.targets import Target, targets
from dcplan.planning.problem.work.terms import JobTerms, RunOption
from dcplan.provenance import Status
from dcplan.reliability.job import Bounds
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Scenario
from dcplan.units import MONTHS_PER_QUARTER, TB_PER_PB


@dataclass(frozen=True)
class Built:
    """A planning problem with the log of its inputs."""

    problem: PlanningProblem
    log: InputLog


@garbage.paused()
def build(question: Question, extra_days: Mapping[str, tuple[float, ...]] | None = None) -> Built:
    """Build the planning problem of a scenario; ``extra_days`` are additional run durations by job.

    Raises
    ------
    InputError
        If the objective is not supported, or a named model cannot be read.
    """
    _refuse_objective(question)
    _refuse_conventions(question)
    scenario = question.scenario
    log = InputLog(question.catalog)
    for name, rate in scenario.fx.items():
        log.take(f"fx.{name}", rate)
    excluded: list[ExcludedOption] = []
    sites = with_rights((site_terms(x, question, log) for x in scenario.sites), question, log)
    own = hardware_of(question, log, sites, excluded)
    refuse_profit(question, own.finance, {place.lead for place in own.placed})
    life_months = own.finance.life_quarters * MONTHS_PER_QUARTER
    refuse_leases(question, life_months, own.finance.discount_rate)
    sent = _stored_work(own.storage, scenario, log)
    offers = cloud_offers(scenario, log, excluded)
    rented = tuple(replace(o, extras=extras_of(o.id, sent, log)) for o in offers)
    where = targets(own.placed, own.fabrics, own.halls, rented)
    late = _delays(question, own, log)
    country = countries_of(scenario, rented, log)
    links = _links(question, log)
    larger = _larger(scenario, own, len(where))
    candidates = JobCandidates(question, log, excluded, larger, late)
    jobs, options, demands = _work(candidates, where, sites, links, extra_days or {}, country)
    problem = PlanningProblem(
        start=scenario.horizon.start,
        quarters=scenario.horizon.quarters,
        sites=sites,
        halls=tuple(own.halls.values()),
        placements=tuple(own.placed),
        fabrics=tuple(own.fabrics),
        jobs=jobs,
        run_options=tuple(with_ramps(options, sites, own.placed, excluded)),
        demands=demands.terms,
        periods=demands.periods,
        period_of_hour=demands.period_of_hour,
        pairs=demands.pairs,
        nearest=demands.nearest,
        footprints=_footprints(question, own, log),
        offers=rented,
        supply=supply_terms(scenario, log),
        parts=parts_terms(scenario, log),
        vendor_share=_vendor_shares(scenario, log),
        sites_max=_number(scenario.sites_max, "sites_max", log),
        sites_min=_sites_min(question, log),
        links=links,
        finance=own.finance,
        orderable=own.orderable,
        fleet=own.fleet,
        existing=own.existing,
        cloud_max_accelerators=scenario.cloud.max_accelerators if scenario.cloud else None,
        storage=own.storage.shares,
        storage_choices=own.storage.choices,
        excluded=tuple(excluded),
        warnings=(
            *notes_of(question, log, excluded),
            *(note for site in sites for note in traded(site.id, site.contracts)),
            *demands.notes,
            *stand_in_notes((o.id for o in rented), sent, log),
        ),
    )
    return Built(planned(with_existing_fit_out(problem)), log)


def _links(question: Question, log: InputLog) -> tuple[LinkTerms, ...]:
    """Return the links between halls."""
    if not question.scenario.links:
        return ()
    from dcplan.planning.problem.fabrics.links import link_terms  # optics and fiber, rarely used

    return link_terms(question, log)


def _delays(
    question: Question, own: Hardware, log: InputLog
) -> Mapping[tuple[str, str], Mapping[str, Bounds]]:
    """Return the possible delays of each system in each hall, of delivery and of power."""
    starts = start_delays(own.placed, own.halls, own.fleet, log)
    return delays(starts, question, own.halls, own.orderable, log)


def _vendor_shares(scenario: Scenario, log: InputLog) -> dict[str, float]:
    """Return the largest share of the spending on ordered racks, by maker."""
    shares = scenario.vendor_share_max
    return {maker: log.take(f"vendor_share_max.{maker}", most) for maker, most in shares.items()}


def _footprints(question: Question, own: Hardware, log: InputLog) -> Footprints:
    """Return the embodied carbon of the placed systems, the plants on site, and classes of the rest."""
    scenario = question.scenario
    systems = (
        log.catalog.get("systems", name, System)
        for name in dict.fromkeys(p.system for p in own.placed)
    )
    plants = (
        log.catalog.get("onsite", x.id, OnsitePower) for s in scenario.sites for x in s.onsite
    )
    wish = scenario.storage
    given = wish.usable_pb.value * TB_PER_PB if wish and wish.usable_pb else 0.0
    if not given and wish and wish.dataset_tb:
        given = wish.dataset_tb.value
    return footprints(systems, plants, given, log)


def _larger(scenario: Scenario, own: Hardware, places: int) -> Larger:
    """Return where sizes of a run between those of whole months may pay."""
    return Larger(
        every=scenario.objective == "min_time",
        halls=own.halls,
        placed=tuple(own.placed),
        finance=own.finance,
        quarters=scenario.horizon.quarters,
        tried=len(scenario.workloads.jobs) * places,
    )


def _number(given: int | None, key: str, log: InputLog) -> int | None:
    """Return a number of sites of the scenario."""
    return None if given is None else int(log.assumed(key, given, given))


def _sites_min(question: Question, log: InputLog) -> int | None:
    """Return the fewest sites with racks.

    Raises
    ------
    InputError
        When it is more than the sites of the scenario, or than ``sites_max``.
    """
    scenario = question.scenario
    least, sites = scenario.sites_min, len(scenario.sites)
    most = sites if scenario.sites_max is None else min(scenario.sites_max, sites)
    if least is not None and least > most:
        of = "sites_max" if most < sites else "the number of sites"
        cause = f"sites_min is {least}, and {of} is {most}"
        more = f"give sites_min of at most {most}"
        raise InputError([question.tree.problem("DC015", cause, ("sites_min",), help=more)])
    return _number(least, "sites_min", log)


def _stored_work(storage: PlanStorage, scenario: Scenario, log: InputLog) -> StoredWork:
    """Return what rented work stores and sends; storage is that of an accelerator in a hall."""
    cloud = scenario.cloud
    if cloud is None:
        return StoredWork()
    sent = cloud.egress_tb_per_month
    if cloud.leave_out:
        log.text("cloud.leave_out", ", ".join(cloud.leave_out), Status.INPUT)
    return StoredWork(
        sum(share.usable_tb for share in storage.shares),
        log.take("cloud.egress_tb_per_month", sent) if sent is not None else 0.0,
        [extra for name in cloud.leave_out for extra in LEFT_OUT[name]],
    )


def _refuse_objective(question: Question) -> None:
    """Reject an objective without the work that it measures."""
    scenario, cause = question.scenario, ""
    if scenario.objective == "max_compute" and not counted(scenario):
        cause = "objective max_compute needs pflops_delivered in workloads.capacity, with its reference job"
    if scenario.objective == "min_time" and not scenario.workloads.jobs:
        cause = "objective min_time needs a job in workloads.training or post_training"
    if scenario.objective == "min_after_tax_cost" and not scenario.has_financing:
        cause = "objective min_after_tax_cost needs finance.tax, finance.debt or finance.payment"
    if cause:
        raise InputError([question.tree.problem("DC004", cause, ("objective",))])


def _refuse_conventions(question: Question) -> None:
    """Reject fields that only `tco` of a given fleet uses; it plans the fleet without them."""
    tree, problems = question.tree, []
    help_text = "use dcplan tco with a fleet, or remove the field"
    if question.scenario.comparison is not None:
        cause = "comparison has the conventions of `tco` with a fleet; a plan does not use them"
        problems.append(tree.problem("DC015", cause, ("comparison",), help=help_text))
    for i, site in enumerate(question.scenario.sites):
        if site.energy.tiers:
            cause = f"{site.id}: the price of energy in tiers depends on the plan, which is linear"
            path = ("sites", i, "energy", "tiers")
            more = f"{help_text}; a plan takes usd_per_kwh or time_of_use"
            problems.append(tree.problem("DC015", cause, path, help=more))
    if question.scenario.reliability.interrupted_h_per_year is not None:
        cause = (
            "reliability.interrupted_h_per_year is for `train`; in a plan, sites state their hours"
        )
        more = "give the site an interruptible tranche, and the run interrupted_power_frac"
        at = ("reliability", "interrupted_h_per_year")
        problems.append(tree.problem("DC015", cause, at, help=more))
    if problems:
        raise InputError(problems)


def counted(scenario: Scenario) -> bool:
    """Return whether a demand is measured in FLOP/s of a reference job."""
    return any(c.unit == "pflops_delivered" for c in scenario.workloads.capacity)


def _work(
    candidates: JobCandidates,
    where: list[Target],
    sites: tuple[SiteTerms, ...],
    links: tuple[LinkTerms, ...],
    extra_days: Mapping[str, tuple[float, ...]],
    country: dict[str, str],
) -> tuple[tuple[JobTerms, ...], tuple[RunOption, ...], Demands]:
    question, log, excluded = candidates.question, candidates.log, candidates.excluded
    work = question.scenario.workloads
    rates = ReferenceRates(log, candidates.paces.shape)
    jobs, run_options = [], []
    for run in work.training:
        for name in ("tokens", "global_batch_tokens"):
            log.take(f"workloads.training.{run.id}.{name}", getattr(run, name))
    for job in work.jobs:
        terms = replace(
            job_terms(job, question, log),
            extra_days=extra_days.get(job.id, ()),
            every_month=candidates.larger.few,
        )
        jobs.append(terms)
        allowed = resident(where, job.countries, country, Kind.JOB, job.id, excluded)
        halls = [*allowed, *spans_of(job, allowed, links, log, excluded)]
        cut = interrupted(job, halls, sites, log)
        run_options += candidates.run_options(job, terms, [*halls, *cut])
    return (
        tuple(jobs),
        tuple(run_options),
        demand_terms(question, log, excluded, where, rates, country),
    )

"""Building of the planning problem from scenario and catalog, with values of the physics rooms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dcplan.catalog.schema import Offer, System
from dcplan.errors import InputError
from dcplan.inputs.cloud_prices import offers as cloud_offers
from dcplan.inputs.excluded import ExcludedOption, Kind
from dcplan.inputs.log import InputLog
from dcplan.inputs.lumps import lump_notes
from dcplan.planning.problem.delays import start_delays
from dcplan.planning.problem.existing import (
    connected,
    delays,
    existing_placements,
    existing_terms,
    with_existing_fit_out,
)
from dcplan.planning.problem.fabrics.options import fabric_options, without_slow
from dcplan.planning.problem.finance import finance_terms
from dcplan.planning.problem.placement import placements
from dcplan.planning.problem.places import hall_terms, home_of, site_terms
from dcplan.planning.problem.sanity_checks import sanity_notes
from dcplan.planning.problem.storage import chosen_storage, with_data_set, with_storage
from dcplan.planning.problem.storage_tiers import tier_prices
from dcplan.planning.problem.systems import (
    SystemTerms,
    parts_terms,
    requested_systems,
    slice_of,
    supply_terms,
    system_terms,
)
from dcplan.planning.problem.terms import (
    FabricOption,
    FleetTerms,
    HallTerms,
    Placement,
    PlanningProblem,
)
from dcplan.planning.problem.work.demand import Demands, demand_terms
from dcplan.planning.problem.work.jobs import JobCandidates, job_terms
from dcplan.planning.problem.work.residency import countries_of, resident
from dcplan.planning.problem.work.targets import Target, targets
from dcplan.planning.problem.work.terms import JobTerms, RunOption
from dcplan.reliability.outlook import Bounds
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Hall, Scenario


@dataclass(frozen=True)
class Built:
    """A planning problem with the log of its inputs."""

    problem: PlanningProblem
    log: InputLog


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
    quarters = scenario.horizon.quarters
    sites = tuple(site_terms(site, scenario, log) for site in scenario.sites)
    halls: dict[str, HallTerms] = {}
    given: dict[str, Hall] = {}
    for site in scenario.sites:
        for hall in site.halls:
            terms = hall_terms(hall, site, question, log, excluded)
            halls[terms.id], given[terms.id] = terms, hall
    wanted = requested_systems(scenario, log, excluded)
    placed, fleet = _placements(question, log, wanted, halls, given, excluded)
    placed = existing_placements(question, log, halls, given, placed, excluded)
    fabrics = [
        o for hall in halls.values() for o in _fabrics(hall, placed, question, log, excluded)
    ]
    fabrics = connected(question, halls, fabrics, excluded)
    finance = finance_terms(scenario.finance, quarters, log)
    prices = tier_prices(halls, {s.id: s for s in sites}, finance)
    storage = chosen_storage(question, log, prices)
    placed = with_storage(_connected(placed, fabrics, excluded), storage)
    home = home_of(scenario)
    halls[home] = with_data_set(halls[home], question, log, storage)
    existing = existing_terms(question, log, halls, placed, excluded)
    rented = cloud_offers(scenario, log, excluded)
    where = targets(placed, fabrics, halls, rented, {s.id: s.redundancy for s in sites})
    orderable = frozenset(s.row.id for s in wanted)
    late = delays(start_delays(placed, halls, fleet, log), question, halls, orderable, log)
    country = countries_of(scenario, rented, log)
    jobs, run_options, demands = _work(
        question, log, excluded, where, late, extra_days or {}, country
    )
    cloud = scenario.cloud
    problem = PlanningProblem(
        start=scenario.horizon.start,
        quarters=quarters,
        sites=sites,
        halls=tuple(halls.values()),
        placements=tuple(placed),
        fabrics=tuple(fabrics),
        jobs=jobs,
        run_options=run_options,
        demands=demands.terms,
        periods=demands.periods,
        period_of_hour=demands.period_of_hour,
        pairs=demands.pairs,
        nearest=demands.nearest,
        offers=rented,
        supply=supply_terms(scenario, log),
        parts=parts_terms(scenario, log),
        vendor_share={
            maker: log.take(f"vendor_share_max.{maker}", most)
            for maker, most in scenario.vendor_share_max.items()
        },
        finance=finance,
        orderable=orderable,
        fleet=fleet,
        existing=existing,
        cloud_max_accelerators=cloud.max_accelerators if cloud else None,
        storage=storage.shares,
        storage_choices=storage.choices,
        excluded=tuple(excluded),
        warnings=(
            *_warnings(question),
            *_unused(question, log),
            *lump_notes(question, log),
            *_not_counted(excluded),
            *demands.notes,
        ),
    )
    return Built(with_existing_fit_out(problem), log)


def _refuse_objective(question: Question) -> None:
    """Reject an objective without the work that it measures."""
    scenario, cause = question.scenario, ""
    if scenario.objective == "max_compute" and not counted(scenario):
        cause = "objective max_compute needs pflops_delivered in workloads.capacity, with its reference job"
    if scenario.objective == "min_time" and not scenario.workloads.jobs:
        cause = "objective min_time needs a job in workloads.training or post_training"
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
    if problems:
        raise InputError(problems)


def counted(scenario: Scenario) -> bool:
    """Return whether a demand is measured in FLOP/s of a reference job."""
    return any(c.unit == "pflops_delivered" for c in scenario.workloads.capacity)


def _placements(
    question: Question,
    log: InputLog,
    wanted: list[SystemTerms],
    halls: dict[str, HallTerms],
    given: dict[str, Hall],
    excluded: list[ExcludedOption],
) -> tuple[list[Placement], FleetTerms | None]:
    scenario = question.scenario
    per_su = scenario.fabric.nodes_per_su if scenario.fabric else None
    placed = [
        p
        for system in wanted
        for key, hall in halls.items()
        for p in placements(system, hall, given[key], log, excluded, nodes_per_su=per_su)
    ]
    fleet = scenario.fleet
    if fleet is None:
        return placed, None
    row = log.catalog.get("systems", fleet.system, System)
    site = fleet.site or scenario.sites[0].id
    name = fleet.hall or next(s for s in scenario.sites if s.id == site).halls[0].id
    hall = halls[f"{site}/{name}"]
    for field, value in (("rated_kw", row.rated_kw), ("price_usd", row.price_usd)):
        if value is None:
            cause = f"fleet: {row.id} has no {field}; give it under prices"
            raise InputError([question.tree.problem("DC003", cause, ("fleet", "system"))])
    busy = (
        log.take("fleet.utilization_frac", fleet.utilization_frac)
        if fleet.utilization_frac
        else 0.0
    )
    own = placements(
        system_terms(row, scenario, log),
        hall,
        given[hall.id],
        log,
        excluded,
        fleet.nodes_per_rack,
        per_su,
        busy,
        fleet.accelerators // row.accelerators,
    )
    if not own:
        reasons = "; ".join(f"{x.where}: {x.reason}" for x in excluded if x.id == row.id)
        raise InputError(
            [
                question.tree.problem(
                    "DC033", f"fleet: {row.id} does not fit {hall.id}: {reasons}", ("fleet",)
                )
            ]
        )
    others = [p for p in placed if (p.hall, p.system) != (hall.id, row.id)]
    return others + own, FleetTerms(hall.id, row.id, fleet.accelerators)


def _fabrics(
    hall: HallTerms,
    placed: list[Placement],
    question: Question,
    log: InputLog,
    excluded: list[ExcludedOption],
) -> list[FabricOption]:
    own = [p for p in placed if p.hall == hall.id]
    if not own:
        return []
    found = fabric_options(hall, own, question.scenario, log, excluded)
    # a demand in FLOP/s counts the slowest fabric of a hall
    return without_slow(found, excluded) if _referenced(question) else found


def _referenced(question: Question) -> bool:
    work = question.scenario.workloads
    given = [*(c.reference for c in work.capacity), *(c.reference for c in work.queue)]
    return any(x is not None for x in given)


def _connected(
    placed: list[Placement], fabrics: list[FabricOption], excluded: list[ExcludedOption]
) -> list[Placement]:
    """Return the placements that a fabric of their hall can connect."""
    served = {(o.hall, c) for o in fabrics for c in o.shares}
    kept = []
    for p in placed:
        if (p.hall, p.port_class) in served:
            kept.append(p)
        else:
            protocols = "/".join(p.port_class.protocols)
            reason = f"no allowed fabric connects its {p.port_class.gbps:g} Gb/s {protocols} ports"
            excluded.append(ExcludedOption(Kind.SYSTEM, p.system, f"{p.hall} {p.cooling}", reason))
    return kept


def _work(
    question: Question,
    log: InputLog,
    excluded: list[ExcludedOption],
    where: list[Target],
    late: dict[tuple[str, str], dict[str, Bounds]],
    extra_days: Mapping[str, tuple[float, ...]],
    country: dict[str, str],
) -> tuple[tuple[JobTerms, ...], tuple[RunOption, ...], Demands]:
    work = question.scenario.workloads
    problem = JobCandidates(question, log, excluded, late)
    jobs, run_options = [], []
    for run in work.training:
        for name in ("tokens", "global_batch_tokens"):
            log.take(f"workloads.training.{run.id}.{name}", getattr(run, name))
    for job in work.jobs:
        terms = replace(job_terms(job, question, log), extra_days=extra_days.get(job.id, ()))
        jobs.append(terms)
        run_options += problem.run_options(
            job, terms, resident(where, job.countries, country, Kind.JOB, job.id, excluded)
        )
    return (
        tuple(jobs),
        tuple(run_options),
        demand_terms(question, log, excluded, where, problem, country),
    )


def _sliced(question: Question) -> list[str]:
    """Name the pods that the plan orders in parts."""
    table = question.catalog.table("systems", System)
    named = () if question.scenario.systems == "all" else question.scenario.systems
    pods = [question.catalog.get("systems", name, System) for name in named]
    parts = [(pod.id, slice_of(pod, table)) for pod in pods]
    return [
        f"{pod} is ordered in its parts, {part}: a plan buys as many as it needs"
        for pod, part in parts
        if part is not None
    ]


def _idle_prices(question: Question) -> list[str]:
    """Find cloud prices that the scenario does not use."""
    cloud = question.scenario.cloud
    if cloud is None:
        return []
    find = question.catalog.get
    offers = None if cloud.offers == "all" else {find("cloud", x, Offer).id for x in cloud.offers}
    terms = {f"{t.replace('-', '_')}_usd_per_h" for t in cloud.terms}
    notes = []
    for name, prices in cloud.prices.items():
        if offers is not None and find("cloud", name, Offer).id not in offers:
            notes.append(f"cloud.prices.{name} is not used: it is not among cloud.offers")
        notes += [
            f"cloud.prices.{name}.{key} is not used: not among cloud.terms"
            for key in prices
            if key not in terms
        ]
    return notes


def _not_counted(excluded: list[ExcludedOption]) -> list[str]:
    """List the user's own hardware that the plan ignores completely or in part."""
    return [
        f"{x.kind} {x.id} ({x.where}): {x.reason}"
        for x in excluded
        if x.kind in (Kind.ASSET, Kind.ORDER)
    ]


def _unused(question: Question, log: InputLog) -> list[str]:
    """Find the scenario's own catalog values that this plan does not use."""
    scenario, text = question.scenario, [f".{key}." for key in log.rows]
    families = {scenario.fabric.id} if scenario.fabric else set(log.catalog.rows["fabrics"])
    if not scenario.fabric and scenario.fabrics != "all":
        families = set(
            scenario.fabrics
        )  # a family shapes the network without a number in the input log
    if scenario.storage and scenario.storage.tiers:  # compared, also where not chosen
        families |= set(log.catalog.rows["storage_tiers"])
    return [
        f"prices.{key} is not used by this plan"
        for key in scenario.prices
        if key not in families and not any(f".{key}." in row for row in text)
    ]


def _warnings(question: Question) -> list[str]:
    scenario = question.scenario
    notes = [
        f"{site.id}: energy.demand_usd_per_kw_month is given but usd_per_kwh is the catalog's all-in average, "
        "which already includes demand charges; give usd_per_kwh without them"
        for site in scenario.sites
        if site.energy.demand_usd_per_kw_month and site.energy.usd_per_kwh is None
    ]
    notes += _sliced(question)
    notes += _idle_prices(question)
    if scenario.cloud and scenario.cloud.egress_tb_per_month:
        notes.append("`plan` does not count cloud.egress_tb_per_month in this version")
    if scenario.finance.tax != type(scenario.finance.tax)():
        notes.append("`plan` does not count finance.tax; its cost is before tax")
    if scenario.finance.debt:
        notes.append(
            "finance.debt lowers the payments that a budget limits and adds debt service; the net "
            "present cost is that of the project before financing, without debt"
        )
    return [*notes, *sanity_notes(question)]

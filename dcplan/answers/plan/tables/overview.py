"""All tables of an audited plan."""

from __future__ import annotations

from dcplan.answers.plan.sustainability.embodied import embodied_table
from dcplan.answers.plan.sustainability.reports import Planned, sustainability
from dcplan.answers.plan.tables import (
    cloud,
    financing,
    fleet,
    hardware,
    money,
    network,
    queue,
    services,
    site,
    work,
    workloads,
)
from dcplan.answers.plan.tables.excluded import excluded_options, with_entry_prices
from dcplan.answers.plan.tables.limits import checks
from dcplan.answers.plan.tables.procurement.leases import leases
from dcplan.answers.plan.workloads import workloads_of
from dcplan.planning.decision_table import to_table
from dcplan.planning.solve.solved import Solved
from dcplan.result import Metric, Table
from dcplan.scenario.load import Question


def tables_of(solved: Solved, metrics: dict[str, Metric], question: Question) -> dict[str, Table]:
    """Return all tables of a plan."""
    if solved.audit is None or solved.decisions is None:
        return {"excluded": excluded_options(solved.problem)}
    problem, d, books = solved.problem, solved.decisions, solved.audit.books
    catalog = question.catalog
    used = workloads_of(problem, d, books)
    choices = network.storage_choices(problem, d)
    return {
        "racks": hardware.racks(problem, d),
        "fleet": fleet.fleet(problem, d),
        "halls": site.halls(problem, d, books),
        "power": site.power(problem, d, books),
        "onsite": site.onsite(problem, d),
        **site.contract_tables(problem, d, books),
        "embodied": embodied_table(problem, d, books),
        "sustainability": sustainability(Planned(problem, d, books, question)),
        "network": network.network(problem, d, books),
        "jobs": work.jobs(problem, d),
        "schedule": work.schedule(problem, d),
        "demand": work.demand(problem, d),
        "services": services.services(problem, d, solved.audit.latencies, question),
        "service_loads": services.service_loads(problem, d),
        "load_periods": services.load_periods(problem),
        "workload_systems": workloads.workload_systems(used),
        "served_by": workloads.served_by(used),
        "workload_costs": workloads.workload_costs(used),
        "workload_costs_by_quarter": workloads.workload_costs_by_quarter(used),
        "queue": queue.queue(problem, solved.audit.queues),
        "storage": network.storage(problem, d),
        "cost": money.cost(books),
        "cash_flow": money.cash_flow(problem, books),
        **financing.financing_tables(problem, d, books, solved.audit.npv_usd),
        "flows": money.flows(problem, books, catalog),
        "benchmarks": money.benchmarks(problem, d, books, metrics, catalog),
        "checks": checks(problem, solved.audit),
        "decisions": to_table(d),
        "cloud": cloud.cloud(problem, d),
        "commitments": cloud.commitments(problem, d),
        "excluded": excluded_options(problem, with_entry_prices(problem.excluded, solved, catalog)),
        **({"storage_choices": choices} if problem.storage_choices else {}),
        **(
            {"upgrades": site.upgrades(problem, d)}
            if any(h.upgrades for h in problem.halls)
            else {}
        ),
        **({"leases": leases(problem, d)} if d.leased else {}),
        **({"spare_pools": work.spare_pools(problem, d)} if problem.pools else {}),
        **({"links": network.links(problem, d)} if problem.links else {}),
    }

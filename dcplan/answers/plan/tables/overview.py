"""All tables of an audited plan."""

from __future__ import annotations

from dcplan.answers.plan.tables import cloud, hardware, money, network, site, work
from dcplan.answers.plan.tables.left_out import left_out, with_entry_prices
from dcplan.answers.plan.tables.limits import checks
from dcplan.catalog.loader import Catalog
from dcplan.planning.decisions import to_table
from dcplan.planning.solve.solved import Solved
from dcplan.result import Metric, Table


def tables_of(solved: Solved, metrics: dict[str, Metric], catalog: Catalog) -> dict[str, Table]:
    """Return all tables of a plan."""
    if solved.audit is None or solved.decisions is None:
        return {"left_out": left_out(solved.menu)}
    menu, d, books = solved.menu, solved.decisions, solved.audit.books
    return {
        "racks": hardware.racks(menu, d),
        "halls": site.halls(menu, d, books),
        "power": site.power(menu, d, books),
        "onsite": site.onsite(menu, d),
        "network": network.network(menu, d, books),
        "jobs": work.jobs(menu, d),
        "ends": work.ends(menu, d),
        "demand": work.demand(menu, d),
        "storage": network.storage(menu, d),
        "cost": money.cost(books),
        "cashflow": money.cashflow(menu, books),
        "flows": money.flows(menu, books, catalog),
        "bands": money.bands(books, metrics, catalog),
        "checks": checks(menu, solved.audit),
        "decisions": to_table(d),
        "cloud": cloud.cloud(menu, d),
        "commitments": cloud.commitments(menu, d),
        "left_out": left_out(menu, with_entry_prices(menu.left_out, solved, catalog)),
    }

"""The fleet by quarter, cash without value that nobody sold, and benchmarks of like with like."""

from __future__ import annotations

from collections import defaultdict

import pytest

from dcplan.answers.plan.tables.fleet import fleet
from dcplan.planning.decisions import Decisions
from dcplan.report.html.figures import DECISION, figures_of
from dcplan.result import Result
from dcplan.specs.plan.fleet import FLEET, Origin
from dcplan.specs.plan.money import BENCHMARKS, CASH_FLOW
from dcplan.specs.plan.places.network import NETWORK
from dcplan.specs.table import Section
from tests.planning.optimum import optimum
from tests.planning.test_cloud_terms import rented_menu
from tests.planning.test_existing import existing_problem
from tests.planning.tiny import tiny_menu
from tests.plans import planned


@pytest.fixture(scope="module")
def renewal() -> Result:
    return planned("fleet-renewal", sets=["uncertainty.samples=20"])


@pytest.mark.parametrize("seed", range(20))
def test_racks_of_all_origins_are_those_of_the_audit(seed: int) -> None:
    problem = tiny_menu(seed)
    d = optimum(problem)[1]
    if d is None:
        return
    found: dict[tuple[str, str, str], int] = defaultdict(int)
    for row in FLEET.rows(fleet(problem, d)):
        if row.racks is not None:
            found[row.quarter, row.hall, row.system] += row.racks
    quarters = ["2027-Q1", "2027-Q2", "2027-Q3"]
    for t in range(problem.quarters):
        for p in problem.placements:
            assert found[quarters[t], p.hall, p.system] == d.racks(problem, p.key, t)


def test_sold_racks_leave_in_the_quarter_of_their_sale() -> None:
    """Two racks in service; one is sold in the second quarter."""
    problem = existing_problem()
    each = next(p.accelerators for p in problem.placements if p.key == problem.existing[0].key)
    rows = FLEET.rows(fleet(problem, Decisions(disposed={("old", 1): 1})))
    old = [(r.racks, r.accelerators, r.left) for r in rows if r.origin == Origin.BEFORE]
    assert old[:2] == [(2, 2 * each, 0), (1, each, each)]


def test_rent_is_the_average_in_use() -> None:
    problem = rented_menu((2.0, 0.0))
    rows = FLEET.rows(fleet(problem, Decisions(rented={("research", "o", 0): 10.0})))
    assert [(r.quarter, r.system, r.origin, r.accelerators) for r in rows] == [
        ("2027-Q1", "o", Origin.RENTED, 10.0)
    ]


def test_the_picture_of_capacity_has_the_fleet_in_service(renewal: Result) -> None:
    """512 DGX H100 accelerators serve before the plan sells 464 of them."""
    first = {r.system: r.accelerators for r in FLEET.rows(renewal.tables["fleet"])[:1]}
    assert first == {"dgx-h100": 512}
    total: dict[str, float] = defaultdict(float)
    for row in FLEET.rows(renewal.tables["fleet"]):
        total[row.quarter] += row.accelerators
    (chart,) = [
        x for x in figures_of(renewal, ())[Section.ORDERS] if x.title == "Capacity by quarter"
    ]
    *_, last = total.values()
    assert f"{last:,.0f} in the last, at most {max(total.values()):,.0f}" in chart.words


def test_the_network_table_has_the_ports_in_service(renewal: Result) -> None:
    """3 racks with 16 accelerators and 16 ports each remain of 512 ports."""
    rows = {r.hall: r for r in NETWORK.rows(renewal.tables["network"])}
    old = rows["frankfurt/old-air"]
    last = {
        r.system: r.accelerators for r in FLEET.rows(renewal.tables["fleet"]) if r.hall == old.hall
    }
    assert (old.nic_ports, old.nic_ports_in_service) == (512, last["dgx-h100"])


def test_cash_has_sales_and_not_the_value_still_owned(renewal: Result) -> None:
    rows = CASH_FLOW.rows(renewal.tables["cash_flow"])
    left = -sum(r.sales_usd + r.end_value_usd for r in rows)
    assert left == pytest.approx(renewal.metrics["cost.residual_usd"].value)
    assert sum(r.sales_usd for r in rows) < -1e6
    assert [bool(r.end_value_usd) for r in rows] == [False] * (len(rows) - 1) + [True]
    (chart,) = [x for x in figures_of(renewal, ())[DECISION] if x.title == "Cash flow"]
    debt = sum(r.debt_service_usd - r.debt_drawn_usd for r in rows)
    paid = sum(r.capex_usd + r.energy_usd + r.opex_usd + r.cloud_usd + r.sales_usd for r in rows)
    assert f"{(paid + debt) / 1e6:,.1f} million USD in all" in chart.words


def test_capital_is_compared_only_where_the_plan_pays_for_all_of_it(renewal: Result) -> None:
    """The hall of the packaged retrofit exists; the shell of train-405b is paid for."""
    retrofit = planned("retrofit-air-hall", gap=0.02)
    figures = [x.figure for x in BENCHMARKS.rows(retrofit.tables["benchmarks"])]
    assert not any("capital per" in name for name in figures)
    assert not any("Network" in x.figure for x in BENCHMARKS.rows(renewal.tables["benchmarks"]))

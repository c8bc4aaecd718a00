"""The audit finds every broken limit, and its money equals a hand calculation."""

from __future__ import annotations

import dataclasses

import pytest

from dcplan.economics.cash_flow import AssetClass, FlowGroup, totals_usd
from dcplan.fabric.effective import LinkSpeed
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.audit.checks import all_checks
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from tests.planning.optimum import best_plan
from tests.planning.small import HALL, PORTS, small_menu


def solved(problem: PlanningProblem | None = None) -> tuple[PlanningProblem, Decisions]:
    problem = problem or small_menu()
    return problem, best_plan(problem)[0]


def broken(problem: PlanningProblem, d: Decisions) -> set[str]:
    return {c.name for c in all_checks(problem, d, make_accounts(problem, d)) if not c.holds}


def test_optimal_plan_breaks_nothing() -> None:
    problem, d = solved()
    assert d.ordered or d.rented
    assert broken(problem, d) == set()


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda d: d.ordered.update({(HALL, "wet", "b", 0): 9}), "supply racks"),
        (lambda d: d.ordered.update({(HALL, "wet", "b", 0): 9}), "budget USD so far"),
        (lambda d: d.ordered.update({(HALL, "wet", "b", 1): 1}), "delivered inside the horizon"),
        (lambda d: d.fitted.update({(HALL, "wet", 0): 3}), "hall units"),
        (lambda d: d.fitted.clear(), "hall IT MW"),
        (lambda d: d.fabric.clear(), "racks without a fabric"),
        (lambda d: d.blocks.clear(), "power blocks"),
        (lambda d: d.runs.clear(), "job runs once"),
        (lambda d: d.serving.clear() or d.rented.clear(), "PFLOP/s missing"),
        (lambda d: d.rented.update({("research", "o", 0): 65.0}), "cloud offer accelerators"),
        (lambda d: d.rented.update({("research", "o", 0): 65.0}), "cloud accelerators"),
        (lambda d: d.training.update({(HALL, "wet", "b", 1): 99.0}), "accelerators busy"),
        (
            lambda d: d.training.update({(HALL, "wet", "b", 1): 99.0}),
            "accelerators reserved for training",
        ),
    ],
)
def test_each_mutation_is_found(change: object, name: str) -> None:
    problem, d = solved()
    d.ordered.setdefault((HALL, "wet", "b", 0), 1)
    d.fitted.setdefault((HALL, "wet", 1), 1)
    change(d)  # type: ignore[operator]
    assert name in broken(problem, d)


@pytest.mark.parametrize(
    ("limit", "name"),
    [
        ({"utility_mw": (0.0, 0.01)}, "utility MW"),
        ({"max_t_per_year": 1.0}, "carbon t"),
        ({"max_l_per_year": 1.0}, "water L"),
    ],
)
def test_tighter_site_is_found(limit: dict[str, object], name: str) -> None:
    problem, d = solved()
    d.ordered[HALL, "wet", "b", 0] = 2
    d.fitted[HALL, "wet", 1] = 1
    problem = dataclasses.replace(problem, sites=(dataclasses.replace(problem.sites[0], **limit),))  # type: ignore[arg-type]
    assert name in broken(problem, d)


def test_late_job_and_crowded_accelerators_are_found() -> None:
    problem, _ = solved()
    run = problem.run_options[0]
    d = Decisions(runs=[dataclasses.replace(run, start_month=5)])
    names = broken(problem, d)
    assert {"job ends by its deadline (day)", "accelerators for jobs"} <= names


REDUCING = LinkSpeed(400.0, in_network=True)
RATE, SHARE, REDUCTION = (
    CheckId.LINK_GBPS.value,
    CheckId.LINK_EXCHANGE_FRAC.value,
    CheckId.LINK_IN_NETWORK.value,
)


def job_in_a_hall(*others: LinkSpeed) -> PlanningProblem:
    """The small menu with its job in the hall, computed for a fabric with in-network reduction.

    Each other fabric costs the same: "other/0" and so on.
    """
    problem = small_menu()
    fabric = problem.fabrics[0]
    fabrics = [dataclasses.replace(fabric, speeds={PORTS: REDUCING})]
    for i, speed in enumerate(others):
        fabrics.append(dataclasses.replace(fabric, id=f"other/{i}", speeds={PORTS: speed}))
    run = dataclasses.replace(problem.run_options[0], link=REDUCING)
    return dataclasses.replace(problem, fabrics=tuple(fabrics), run_options=(run,))


@pytest.mark.parametrize(
    ("speed", "names"),
    [
        (LinkSpeed(800.0, in_network=True), set()),
        (LinkSpeed(200.0, in_network=True), {RATE}),
        (LinkSpeed(400.0, 0.9, in_network=True), {SHARE}),
        (LinkSpeed(400.0), {REDUCTION}),
        (LinkSpeed(399.0, 0.99), {RATE, SHARE, REDUCTION}),
    ],
)
def test_a_fabric_slower_than_the_step_time_of_a_job_is_found(
    speed: LinkSpeed, names: set[str]
) -> None:
    problem, d = solved(job_in_a_hall(speed))
    assert [r.place for r in d.runs] == [HALL]
    d.fabric[HALL] = "eth/2t"
    assert broken(problem, d) == set()
    d.fabric[HALL] = "other/0"
    assert broken(problem, d) == names


def test_a_run_computed_for_a_faster_link_is_found() -> None:
    problem, d = solved(job_in_a_hall())
    d.runs[0] = dataclasses.replace(d.runs[0], link=LinkSpeed(800.0, in_network=True))
    assert broken(problem, d) == {RATE}
    checks = [x for x in all_checks(problem, d, make_accounts(problem, d)) if not x.holds]
    # the run starts in month 3, the first of quarter 1
    assert [(x.where, x.quarter, x.used, x.limit) for x in checks] == [
        (f"job {HALL} a", 1, 800.0, 400.0)
    ]


def test_a_run_in_a_hall_without_a_fabric_has_no_link() -> None:
    problem, d = solved(job_in_a_hall())
    d.fabric.clear()
    assert {RATE, SHARE, REDUCTION, "racks without a fabric"} <= broken(problem, d)


def test_a_rented_run_has_no_link_of_a_hall() -> None:
    problem = small_menu()
    problem, d = solved(dataclasses.replace(problem, run_options=problem.run_options[1:]))
    assert [r.on_cloud for r in d.runs] == [True]
    names = {c.name for c in all_checks(problem, d, make_accounts(problem, d))}
    assert not names & {RATE, SHARE, REDUCTION}


def books_of_two_racks() -> Accounts:
    problem = dataclasses.replace(small_menu(), jobs=(), demands=())
    d = Decisions(
        ordered={(HALL, "wet", "b", 0): 2},
        fitted={(HALL, "wet", 1): 1},
        fabric={HALL: "eth/2t"},
        blocks={("s", 1): 2},
    )
    return make_accounts(problem, d)


def test_every_capital_line_has_its_asset_class_and_keeps_it_at_the_end() -> None:
    flows = [f for f in books_of_two_racks().flows if f.usd]
    classes = {
        "racks b": AssetClass.RACKS,
        "network": AssetClass.NETWORK,
        "cooling and fit-out": AssetClass.COOLING,
        "building": AssetClass.BUILDING,
        "power blocks": AssetClass.POWER,
    }
    for group in (FlowGroup.CAPEX, FlowGroup.RESIDUAL):
        assert {f.line: f.asset for f in flows if f.group is group} == classes
    assert {(f.group, f.asset) for f in flows if f.line not in classes} == {
        (FlowGroup.ENERGY, AssetClass.GRID_ENERGY),
        (FlowGroup.ENERGY, AssetClass.OTHER),
        (FlowGroup.OPEX, AssetClass.OTHER),
    }


def test_money_by_hand() -> None:
    """Two racks of b ordered in quarter 0 under wet, one unit fitted in quarter 1, two blocks in
    quarter 1.

    capex: 2 x 1.4 M racks; unit 0.3 M fit-out + 0.4 M building; 2 x 0.08 M blocks;
    network: 4 nodes of 8 rails on one unit of 4 nodes (below 32 leaf ports): 32 links on 1 leaf, 32
    uplinks, 1 spine (divisor of 32 at or above 32/64), switches 2 x 60,000; cages (32 + 2 x 32)/2 =
    48 x 800; node optics 32 x 400; cables 64 x 20. energy in quarter 1: idle 2 x 15 kW, no work;
    network 2 x 1 kW + 48 x 0.016 + 32 x 0.009 = 3.056 kW; 2,191.5 h x 1.1 x 0.08 USD, plus demand
    max(peak, 0.5 x 0.6 MW) x 10 x 3.
    """
    books = books_of_two_racks()
    network = 2 * 60e3 + 48 * 800 + 32 * 400 + 64 * 20
    totals = totals_usd(books.flows)
    assert totals["capex"] == pytest.approx(2 * 1.4e6 + 0.7e6 + 2 * 80e3 + network, rel=1e-12)
    it_kw = 2 * 15 + 3.056
    kwh = it_kw * 2191.5 * 1.1
    demand = 0.5 * 600 * 10 * 3  # 0.3 MW minimum take; the peak of 123 kW x 1.2 is below it
    assert totals["energy"] == pytest.approx(kwh * 0.08 + demand, rel=1e-9)
    assert totals["opex"] == pytest.approx(2 * 10_000 + 2 * 60 * 80 + 25_000, rel=1e-12)
    kept = 2 * 1.4e6 * 0.7 + network * 0.7 + 0.7e6 * 0.9 + 2 * 80e3 * 0.9
    assert -totals["residual"] == pytest.approx(kept, rel=1e-12)

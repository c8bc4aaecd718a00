"""The example with hardware in service and on order: its money by hand, and its decisions
repeated."""

from __future__ import annotations

import pytest

from dcplan.api.plan import plan
from dcplan.result import Result
from dcplan.specs.plan.decided import RACKS
from dcplan.specs.plan.money import BENCHMARKS, CASH_FLOW, COST
from dcplan.specs.plan.work import CLOUD
from tests.plans import planned


@pytest.fixture(scope="module")
def result() -> Result:
    return planned("fleet-renewal", sets=["uncertainty.samples=20"])


def cost(result: Result) -> dict[tuple[str, str], float]:
    return {(row.group, row.line): row.usd for row in COST.rows(result.tables["cost"])}


def test_the_order_is_paid_to_the_rest_when_it_arrives(result: Result) -> None:
    """Four racks at 3.4 M USD, 20 % paid ahead: 10.88 M USD in the quarter it arrives, were it
    kept whole."""
    racks = RACKS.rows(result.tables["racks"])
    (order,) = [row for row in racks if str(row.asset_and_end).startswith("po-1")]
    assert cost(result)["capex", "order po-1"] == pytest.approx(order.racks * 3.4e6 * 0.8)
    assert order.serves_from == "2027-Q3"


def test_the_budget_counts_what_is_borrowed_and_paid_back(result: Result) -> None:
    for row in CASH_FLOW.rows(result.tables["cash_flow"]):
        assert row.debt_drawn_usd == pytest.approx(0.5 * row.capex_usd)
        paid = row.capex_usd + row.energy_usd + row.opex_usd + row.cloud_usd
        cash = paid - row.debt_drawn_usd + row.debt_service_usd
        assert row.cash_out_usd == pytest.approx(cash)


def test_power_per_accelerator_is_of_one_quarter(result: Result) -> None:
    """Facility power and accelerators of the last quarter; the plan does not pay for the hardware
    in service, so capital cost has no public range to compare with."""
    watts = result.frame("power").iloc[-1]["facility_mw"] * 1e6
    rows = {row.figure: row for row in BENCHMARKS.rows(result.tables["benchmarks"])}
    row = rows["All-in facility W per accelerator"]
    assert row.value == pytest.approx(watts / result.value("accelerators.total"))
    assert row.inside == "inside"
    assert not any("capital per" in name for name in rows)


def test_every_demand_is_served_and_residency_kept(result: Result) -> None:
    assert result.metrics["unserved.research"].value == 0.0
    used_for = {row.for_use for row in CLOUD.rows(result.tables["cloud"])}
    assert "chat" not in used_for  # the nearest region is not in Germany


def test_what_is_asked_is_what_is_owned_rented_and_given_up(result: Result) -> None:
    """In the scenario's own numbers: tokens a second on average, though accelerators are held for
    twice that."""
    asked = {"research": [200, 200, 250, 250, 300, 300], "chat": [2e5, 3e5, 4e5, 5e5, 6e5, 7e5]}
    for name, wanted in asked.items():
        rows = [r for r in result.tables["demand"].records() if r["demand"] == name]
        assert [r["required"] for r in rows] == pytest.approx(wanted)
        served = [
            float(str(r["owned"])) + float(str(r["rented"])) + float(str(r["unserved"]))
            for r in rows
        ]
        assert served == pytest.approx(wanted, rel=1e-6)


def test_its_decisions_cost_the_same_again(result: Result) -> None:
    again = plan("fleet-renewal", sets=["uncertainty.samples=20"], fix_decisions=result)
    assert again.metrics["cost.npv_usd"].value == pytest.approx(
        result.metrics["cost.npv_usd"].value, rel=1e-6
    )
    assert again.tables["decisions"].rows == result.tables["decisions"].rows

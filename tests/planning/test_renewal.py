"""Renewal of a full hall, and hardware that comes too late for a job."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan.answers.plan.answer import plan
from dcplan.inputs.excluded import Cause
from dcplan.planning.presolve import presolve
from dcplan.planning.problem.build import build
from dcplan.scenario.load import load

RENEW = """\
dcplan: 1
name: renew
horizon: {start: 2027-Q1, quarters: 6}
finance: {hardware_life_years: 4}
sites:
  - id: s
    location: us-ashburn
    utility_mw: 6
    halls:
      - {id: h, existing: true, racks: 48, rack_kw_max: 42, it_mw: 2.4, cooling: [airside-economizer-air-chiller]}
systems: [dgx-h200]
fabrics: [ib-ndr-400]
assets:
  - {id: old, system: dgx-h100, accelerators: COUNT, in_service: 2023-Q3, fabric: ib-ndr-400, may_sell: SELL}
workloads:
  capacity:
    - {id: r, accelerator_hours: 1100000, utilization_frac: 1, usd_per_unmet_quarter: 50}
"""


@pytest.mark.parametrize(
    ("count", "sell"), [(704, "true"), (704, "false"), (512, "false"), (208, "false")]
)
def test_a_full_hall_is_renewed_and_the_bound_holds(tmp_path: Path, count: int, sell: str) -> None:
    """Assets end in 2027-Q3: 503 accelerators (1.1 M hours of 2,191.5) must follow them in the same
    positions.

    Unserved, a quarter of the demand costs 55 M USD; 63 servers are some 22 M. No bound may pass
    the cost.
    """
    file = tmp_path / "renew.yaml"
    file.write_text(RENEW.replace("COUNT", str(count)).replace("SELL", sell), encoding="utf-8")
    result = plan(file)

    assert result.value("accelerators.dgx-h200") >= 503
    assert result.value("solver.bound_usd") <= result.value("cost.npv_usd") + 1.0
    assert result.value("cost.npv_usd") < 60e6


@pytest.mark.parametrize(
    ("systems", "quarter"), [("dgx-h200", "2027-Q4"), ("gb200-nvl72", "2027-Q2")]
)
def test_a_job_that_ordered_hardware_is_too_late_for_names_its_quarter(
    systems: str, quarter: str
) -> None:
    """The order is expected in the last quarter of 2027; a new rack has one quarter of lead time.

    The run takes 60 days of 91.3, and the deadline counts a late delivery.
    """
    job = (
        "{id: tune, model: llama-3.1-8b, tokens: 8e12, seq_len: 8192, global_batch_tokens: 4e6, "
        "precision: [bf16], deadline: 2027-Q1, sites: [frankfurt]}"
    )
    sets = [
        f"workloads.training=[{job}]",
        f"systems=[{systems}]",
        "assets=[]",
        "cloud=null",
        "workloads.capacity=[]",
        "workloads.inference=[]",
        "sites.frankfurt.halls.liquid.it_mw=0.3",
        "sites.frankfurt.halls.old-air.it_mw=0.01",
        "orders.po-1.accelerators=72",
        "orders.po-1.expected=2027-Q4",
        "orders.po-1.slip_days={p10: 0, p50: 20, p90: 89}",
    ]
    question = load("fleet-renewal", sets=sets)
    built = build(question)
    (found,) = presolve(question, built)
    assert "no run option meets its deadline" in found.cause
    assert "none of the available systems" not in found.cause
    assert f"the hardware serves from {quarter}" in found.cause
    assert any(x.cause is Cause.LATE for x in built.problem.excluded)

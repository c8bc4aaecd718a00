"""A job whose software or precision no system supports is told so, not to wait longer."""

from __future__ import annotations

from pathlib import Path

import pytest

import dcplan
from dcplan.result import Result

SCENARIO = """
dcplan: 1
name: unsupported
horizon: {start: 2027-Q1, quarters: 4}
sites:
  - id: ashburn
    location: us-ashburn
    utility_mw: 14
    halls: [{id: h, racks: 96, rack_kw_max: 250, it_mw: 11, air_mw: 3, cooling: [direct-liquid-tower]}]
systems: [dgx-h200]
fabrics: [ib-ndr-400]
workloads:
  training:
    - id: a
      model: llama-3.1-8b
      tokens: 1e12
      seq_len: 8192
      global_batch_tokens: 4e6
      deadline_days: 90
      MORE
objective: min_cost
"""


def _plan(folder: Path, more: str) -> Result:
    file = folder / "unsupported.yaml"
    file.write_text(SCENARIO.replace("MORE", more).strip(), encoding="utf-8")
    return dcplan.plan(str(file))


@pytest.mark.parametrize(
    ("more", "cause"),
    [
        (
            "{precision: [bf16, fp8], stack: neuronx}",
            "neuronx does not run on h200-sxm; stacks that",
        ),
        ("{precision: [fp4]}", "h200-sxm has no dense fp4 peak: the catalog has no fp4_tflops"),
    ],
)
def test_the_cause_is_the_software_or_the_precision(tmp_path: Path, more: str, cause: str) -> None:
    result = _plan(tmp_path, more[1:-1].replace("], ", "]\n      "))
    assert result.status == "infeasible"
    row = next(iter(result.tables["conflict"].records()))
    assert row["code"] == "DC015"
    assert cause in str(row["cause"])
    assert "choose a stack and a precision" in str(row["remedy"])
    # once, although two precisions are refused for the same reason
    assert str(row["cause"]).count(cause) == 1

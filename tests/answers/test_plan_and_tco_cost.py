"""The cost of a plan after taxes and debt is that of `tco` for the same plan, to the cent."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan.answers.plan.answer import plan
from dcplan.answers.plan.request import PlanRequest
from dcplan.answers.tco.answer import tco
from dcplan.answers.tco.request import TcoRequest

BASE = "train-405b-in-90-days.yaml"
TAX = "finance.tax={income_rate: 0.25, depreciation: macrs-5, sales_tax_frac: 0.06}"
DEBT = "finance.debt={share: 0.6, rate: 0.08, term_years: 4}"
DUE = "finance.payment={deposit_frac: 0.3, deposit_months_before: 9, acceptance_frac: 0.1, acceptance_months_after: 2}"
CASES = {
    "taxes": [TAX],
    "debt": [DEBT],
    "payment terms": [DUE],
    "all": [TAX, DEBT, DUE],
    "no residual value": [TAX, DEBT, "finance.residual=none"],
    "property tax": ["finance.tax={income_rate: 0.3, property_tax_frac_per_year: 0.02}"],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_both_verbs_give_one_cost(name: str) -> None:
    """The steps of both start at the plan's cost and end at the same cost."""
    file, sets = str(Path("scenarios") / BASE), tuple(CASES[name])
    own = plan(PlanRequest(file, sets=sets))
    other = tco(TcoRequest(file, sets=sets))
    usd = float(own.metrics["cost.after_tax_npv_usd"].value or 0.0)
    assert usd == pytest.approx(float(other.metrics["owned.npv_usd"].value or 0.0), rel=1e-9)
    steps = dict(own.tables["financing"].rows)
    total = sum(float(x or 0.0) for x in list(steps.values())[:-1])
    assert total == pytest.approx(usd, rel=1e-9)
    table = own.tables["statements"]
    at = table.columns.index("difference_usd")
    assert max(abs(float(row[at] or 0.0)) for row in table.rows) <= 1e-2

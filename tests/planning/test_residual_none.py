"""`finance.residual: none`: hardware is worth nothing from its order on; 0 says the same."""

from __future__ import annotations

import pytest

from dcplan.answers.plan.answer import plan
from dcplan.answers.tco.answer import tco
from dcplan.errors import InputError
from dcplan.inputs.log import InputLog
from dcplan.inputs.residual_value import residual_of
from dcplan.scenario.load import load

FLEET = "own-or-rent-1024-h200"


@pytest.mark.parametrize("given", ["none", "0", "0.0"])
def test_hardware_is_worth_nothing(given: str) -> None:
    """The residual value that is left is the book value of the fit-out; a share of 0.1 keeps more."""
    found = plan(FLEET, sets=[f"finance.residual={given}"])
    left = {r["asset"] for r in found.tables["flows"].records() if r["usd"] < 0}
    assert left == {"cooling"}
    tenth = plan(FLEET, sets=["finance.residual=0.1"])
    assert found.metrics["cost.residual_usd"].value < tenth.metrics["cost.residual_usd"].value
    assert found.metrics["cost.npv_usd"].value > tenth.metrics["cost.npv_usd"].value
    assert next(r["value"] for r in found.inputs if r["key"] == "finance.residual") == "none"


def test_at_every_age() -> None:
    question = load(FLEET, sets=["finance.residual=none"])
    left = residual_of(question.scenario.finance, 5.0, InputLog(question.catalog))
    assert [left(age) for age in (0.0, 0.25, 1.5, 5.0, 9.0)] == [0.0] * 5


def test_tco_sells_no_hardware() -> None:
    some, none = (
        tco(FLEET, sets=[f"finance.residual={x}"]).metrics["owned.npv_usd"].value
        for x in ("0.3", "none")
    )
    assert none > some


def test_another_word_is_refused() -> None:
    with pytest.raises(InputError, match="none, low, mid, high"):
        load(FLEET, sets=["finance.residual=nothing"])

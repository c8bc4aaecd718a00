"""Return of owning over rent, and the utilization at which both cost the same."""

from __future__ import annotations

import pytest

from dcplan.answers.tco.answer import tco
from dcplan.specs.tco import offers
from tests.answers.test_tco_terms import FILE, value


def test_the_return_makes_both_sides_cost_the_same() -> None:
    result = tco(FILE, sets=["sensitivity.inputs=[]", "finance.debt=null"])
    found = value(result, "owned.irr_frac")
    there = tco(
        FILE,
        sets=["sensitivity.inputs=[]", "finance.debt=null", f"finance.discount_rate={found!r}"],
    )
    rents = [
        v.value
        for k, v in there.metrics.items()
        if k.startswith("rented.") and k.endswith("npv_usd")
    ]
    first, *_ = offers.RENTED.rows(result.tables["rented"])
    best = f"{first.offer}.{first.term}"
    assert value(there, "owned.npv_usd") == pytest.approx(
        value(there, f"rented.{best}.npv_usd"), rel=1e-9
    )
    assert rents


def test_the_break_even_utilization_is_where_both_cost_the_same() -> None:
    sets = [
        "sensitivity.inputs=[]",
        "cloud.offers=[coreweave-h200]",
        "cloud.terms=[on-demand,spot]",
    ]
    key = "break_even.coreweave-h200.{}.utilization_frac"
    for term in ("on-demand", "spot"):
        found = [
            value(tco(FILE, sets=[*sets, f"fleet.utilization_frac={u}"]), key.format(term))
            for u in (0.3, 0.9)
        ]
        assert found[0] == pytest.approx(found[1], rel=1e-9)  # whatever the fleet's own is
        there = tco(FILE, sets=[*sets, f"fleet.utilization_frac={found[0]!r}"])
        rent = value(there, f"rented.coreweave-h200.{term}.npv_usd")
        assert value(there, "owned.npv_usd") == pytest.approx(rent, rel=1e-6)

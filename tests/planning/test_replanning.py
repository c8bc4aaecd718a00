"""Replanning: what is frozen stays, few changes stay few, and more freedom never costs more."""

from __future__ import annotations

import itertools

import pytest

from dcplan.answers.plan.answer import plan
from dcplan.errors import InputError
from dcplan.result import Result
from dcplan.specs.plan.decided import DECISIONS, DecisionRow
from tests.plans import planned

FILE = "retrofit-air-hall"
DEARER = ("sites.frankfurt.energy.usd_per_kwh=0.2", "prices.mi325x-8.price_usd=290000")
GAP = 0.02


@pytest.fixture(scope="module")
def first() -> Result:
    return plan(FILE, gap=GAP)


Decided = dict[tuple[str, str | None, str | None, str | None, int | None], int]


def rows(result: Result) -> list[DecisionRow]:
    return DECISIONS.rows(result.tables["decisions"])


def decisions(result: Result) -> Decided:
    return {(r.decision, r.hall, r.cooling, r.item, r.quarter): r.amount for r in rows(result)}


def orders(result: Result) -> Decided:
    return {key: n for key, n in decisions(result).items() if key[0] == "order"}


def changes(a: Result, b: Result) -> int:
    ordered = {k for k in {**orders(a), **orders(b)} if orders(a).get(k) != orders(b).get(k)}
    runs = [
        {str(r.item).split(" on ")[0]: r for r in rows(x) if r.decision == "run"} for x in (a, b)
    ]
    fabrics = [{r.hall: r.item for r in rows(x) if r.decision == "fabric"} for x in (a, b)]
    moved = sum(runs[0][job] != runs[1].get(job) for job in runs[0])
    return len(ordered) + moved + sum(fabrics[1].get(h, f) != f for h, f in fabrics[0].items())


def test_less_freedom_never_costs_less_and_few_changes_are_few(first: Result) -> None:
    free = plan(FILE, sets=DEARER, gap=GAP)
    costs = [free.value("cost.npv_usd")]
    for most in (4, 1, 0):
        again = plan(FILE, sets=DEARER, gap=GAP, earlier=first, max_changes=most)
        assert changes(first, again) <= most
        costs.append(again.value("cost.npv_usd"))
    assert all(b >= a * (1 - GAP) for a, b in itertools.pairwise(costs))


def test_what_is_frozen_stays_to_the_rack(first: Result) -> None:
    again = plan(FILE, sets=DEARER, gap=GAP, earlier=first, freeze_through="2027-Q3")
    for key, n in decisions(first).items():
        if key[0] in ("order", "fit", "blocks") and int(str(key[4])) <= 2:
            assert decisions(again).get(key) == n, key
    new = {k for k in orders(again) if int(str(k[4])) <= 2} - set(orders(first))
    assert not new


def test_nothing_changes_without_a_reason(first: Result) -> None:
    again = plan(FILE, gap=GAP, earlier=first, max_changes=0)
    assert again.value("cost.npv_usd") == pytest.approx(first.value("cost.npv_usd"), rel=1e-4)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"freeze_through": "2027-Q2"}, "--freeze-through needs --from"),
        ({"max_changes": 3}, "--max-changes needs --from"),
    ],
)
def test_flags_without_an_earlier_plan_are_refused(asked: dict[str, object], words: str) -> None:
    with pytest.raises(InputError) as caught:
        plan(FILE, **asked)  # type: ignore[arg-type]
    assert words in caught.value.problems[0].cause


def test_an_earlier_plan_that_does_not_fit_is_refused(first: Result) -> None:
    for asked, words in (
        ({"freeze_through": "2040-Q1"}, "outside the horizon"),
        ({"freeze_through": "soon"}, "a quarter such as"),
        ({"max_changes": -1}, "from 0 is needed"),
    ):
        with pytest.raises(InputError) as caught:
            plan(FILE, earlier=first, **asked)  # type: ignore[arg-type]
        assert words in caught.value.problems[0].cause
    with pytest.raises(InputError) as caught:
        plan(FILE, earlier=first, freeze_through="2027-Q2", sets=["systems=[dgx-h200]"])
    assert "no longer possible in this scenario" in caught.value.problems[0].cause
    with pytest.raises(InputError) as caught:
        plan(
            "train-405b-in-90-days",
            earlier=planned("train-405b-in-90-days"),
            sets=["horizon.start=2027-Q2"],
        )
    assert caught.value.problems


def test_damaged_decisions_and_lost_orders_are_refused(first: Result) -> None:
    import dataclasses

    table = first.tables["decisions"]
    renamed = dataclasses.replace(
        table, columns=tuple("q" if c == "quarter" else c for c in table.columns)
    )
    damaged = dataclasses.replace(first, tables={**first.tables, "decisions": renamed})
    with pytest.raises(InputError) as caught:
        plan(FILE, earlier=damaged, freeze_through="2027-Q2")
    assert "without a quarter" in caught.value.problems[0].cause
    with pytest.raises(InputError) as caught:
        plan(FILE, earlier=first, max_changes=0, sets=["systems=[dgx-h200]"])
    assert "no longer possible" in caught.value.problems[0].cause
    with pytest.raises(InputError) as caught:
        plan(FILE, earlier=first, fix_decisions=first)
    assert "leave one of them out" in caught.value.problems[0].help

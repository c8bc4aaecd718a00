"""Remedies: each printed one, applied with --set, gives an audited plan; the balance by hand."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dcplan.answers.common.request import ScenarioRequest
from dcplan.answers.explain.answer import explain
from dcplan.answers.plan.answer import plan
from dcplan.answers.remedies import search
from dcplan.answers.remedies.amounts import joined
from dcplan.answers.remedies.change import Change, Move, after
from dcplan.answers.remedies.infeasible import Infeasible
from dcplan.answers.remedies.search import Remedy, _least
from dcplan.errors import EXIT_INCOMPLETE, EXIT_INFEASIBLE, EXIT_NO, EXIT_OK
from dcplan.planning.problem.build import build
from dcplan.planning.solve.request import Clock
from dcplan.result import Result
from dcplan.scenario.load import load
from dcplan.specs import no_plan as specs
from dcplan.units import money
from tests.answers.one_hall import SUPPLY, one_hall

TRAIN, RETROFIT, FLEET = "train-405b-in-90-days", "retrofit-air-hall", "fleet-renewal"
DAYS = "workloads.training.flagship.deadline_days"


@pytest.fixture
def short(tmp_path: Path) -> str:
    """A vendor that delivers too few racks."""
    return one_hall(tmp_path, 210_384, SUPPLY)


def remedies(result: Result) -> list[specs.RemedyRow]:
    return specs.REMEDIES.rows(result.tables["remedies"])


def edits(row: specs.RemedyRow) -> list[str]:
    return [word for word in shlex.split(row.options) if word != "--set"]


def assert_each_holds(result: Result, file: str, sets: list[str]) -> None:
    """Every remedy gives a plan; expectations of the old scenario may fail, as on its deadline."""
    rows = remedies(result)
    assert result.exit_code == EXIT_INFEASIBLE
    assert rows
    costs = [row.npv_usd for row in rows]
    assert costs == sorted(costs)
    assert [row.over_cheapest_usd for row in rows] == [cost - costs[0] for cost in costs]
    assert len({tuple(edits(row)) for row in rows}) == len(rows)
    for row in rows:
        made = plan(file, sets=[*sets, *edits(row)], gap=0.05)
        assert made.exit_code in (EXIT_OK, EXIT_INCOMPLETE, EXIT_NO), row
        assert made.value("cost.npv_usd") > 0, row
    assert rows[0].change in result.headline


def test_remedies_have_the_cost_of_the_objective(short: str) -> None:
    """The scenario that the first remedy makes has the cost of the remedy, after taxes."""
    sets = ["finance.tax={income_rate: 0.3}", "objective=min_after_tax_cost"]
    found = explain(short, sets=sets)
    first = remedies(found)[0]
    assert f"(plan of USD {money(first.npv_usd)} after taxes and debt)" in found.headline
    made = plan(short, sets=[*sets, *edits(first)], gap=0.001)
    assert made.exit_code == EXIT_OK
    after, before = (made.value(f"cost.{x}npv_usd") for x in ("after_tax_", ""))
    assert 0.99 * after <= first.npv_usd <= 1.06 * after
    assert first.npv_usd < 0.95 * before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "sets"),
    [
        (TRAIN, ["sites.ashburn.utility_mw=4"]),
        (TRAIN, [f"{DAYS}=30"]),
        (TRAIN, ["finance.budget_usd=150e6"]),
        (TRAIN, ["sites.ashburn.halls.liquid.racks=20"]),
        (RETROFIT, ["sites.frankfurt.utility_mw=0.2", "cloud.max_accelerators=64"]),
        (RETROFIT, ["cloud.max_accelerators=0"]),
        (FLEET, ["finance.budget_usd=2e6"]),
    ],
)
def test_every_remedy_of_plan_gives_an_audited_plan(file: str, sets: list[str]) -> None:
    assert_each_holds(plan(file, sets=sets), file, sets)


@pytest.mark.slow
def test_a_deadline_that_nothing_reaches_is_later_by_the_fewest_tested_days() -> None:
    found = explain(TRAIN, sets=[f"{DAYS}=30"], time_limit_s=90)
    assert found.exit_code == EXIT_INFEASIBLE
    later = next(row for row in remedies(found) if row.options.startswith(f"--set {DAYS}="))
    assert later.place.startswith("--set")
    days = int(edits(later)[0].partition("=")[2])
    assert plan(TRAIN, sets=[f"{DAYS}={days}"], gap=0.02).exit_code in (EXIT_OK, EXIT_NO)
    assert plan(TRAIN, sets=[f"{DAYS}={0.9 * days}"], gap=0.02).exit_code == EXIT_INFEASIBLE


@pytest.mark.slow
def test_remedies_of_a_power_limit_are_of_different_kinds() -> None:
    """More power, or a longer run: one kind each, and both smaller than they look at first."""
    sets = ["sites.ashburn.utility_mw=4"]
    keys = {edits(row)[0].partition("=")[0] for row in remedies(plan(TRAIN, sets=sets))}
    assert keys == {"sites.ashburn.utility_mw", DAYS}


@pytest.mark.slow
def test_explain_and_plan_find_the_same_cheapest_remedy() -> None:
    sets = ["sites.ashburn.utility_mw=4"]
    of_plan = plan(TRAIN, sets=sets, remedies_limit_s=240)
    of_explain = explain(TRAIN, sets=sets, time_limit_s=240)
    assert remedies(of_plan)[0].change == remedies(of_explain)[0].change
    assert of_plan.tables["balance"] == of_explain.tables["balance"]


def test_a_vendor_that_delivers_too_few_racks(short: str) -> None:
    """210,384 h / 2,191.5 h a quarter = 96 accelerators = 6 racks of 16; the vendor delivers 4."""
    result = plan(short)
    assert_each_holds(result, short, [])
    by_key = {edits(row)[0].partition("=")[0]: row for row in remedies(result)}
    supply = by_key["supply.0.racks_per_quarter"]
    assert edits(supply) == ["supply.0.racks_per_quarter=[6,4]"]
    assert supply.change == "racks of dgx-h200 from the vendor: 6 instead of 4 in 2027-Q1"
    # 64 of 96 accelerators: a third less demand, and 34 % is the next whole percent
    demand = by_key["workloads.capacity.r.accelerator_hours"]
    assert demand.change == "34 % less demand of r"


@pytest.mark.parametrize("verb", [plan, explain])
def test_the_balance_of_one_hall_by_hand(short: str, verb: Callable[[str], Result]) -> None:
    """The vendor delivers 64 accelerators: 64 x 2,191.5 h = 140,256 h of the 210,384 h asked for.

    An accelerator takes 10.2 kW / 8 (DGX H200, rated) times the PUE on the design day.
    """
    result = verb(short)
    assert result.exit_code == EXIT_INFEASIBLE
    (row,) = specs.BALANCE.rows(result.tables["balance"])
    assert (row.quarter, row.workload, row.unit) == ("2027-Q2", "r", "accelerator_hours")
    assert row.asked == pytest.approx(210_384)
    assert row.available == pytest.approx(64 * 2191.5)
    assert row.missing == pytest.approx(210_384 - 64 * 2191.5)
    assert row.asked_mw is not None
    assert row.available_mw is not None
    assert row.asked_mw / row.available_mw == pytest.approx(96 / 64)
    halls = [x for x in result.inputs if str(x["key"]).startswith("sites.")]
    pue = next(x["value"] for x in halls if str(x["key"]).endswith("peak_pue"))
    assert row.available_mw == pytest.approx(64 * 10.2 / 8 / 1000 * pue)


def test_a_what_if_without_a_plan_explains_itself(short: str) -> None:
    result = explain(
        short, sets=["supply.0.racks_per_quarter=6"], what_if=["supply.0.racks_per_quarter=4"]
    )
    assert result.exit_code == EXIT_OK
    assert "balance" in result.tables
    for row in remedies(result):
        assert plan(short, sets=edits(row), gap=0.05).exit_code == EXIT_OK
    assert remedies(result)[0].change in result.headline


def test_a_remedy_of_a_what_if_replaces_its_value(short: str) -> None:
    """Each key has one value in the options, that of the remedy."""
    able = ["supply.0.racks_per_quarter=6"]
    found = explain(short, sets=able, what_if=["sites.s.utility_mw=0.05"])
    rows = [row for row in remedies(found) if "utility_mw" in row.change]
    assert rows
    for row in rows:
        keys = [edit.partition("=")[0] for edit in edits(row)]
        assert keys.count("sites.s.utility_mw") == 1
        assert plan(short, sets=[*able, *edits(row)], gap=0.05).exit_code == EXIT_OK


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("sites.s.halls.h.rack_kw_max=8", "does not fit: 10.2 kW > 8 kW (rack_kw_max)"),
        ("workloads.capacity.r.countries=[DE]", "in US; `countries` allows DE"),
        ("workloads.capacity.r.systems=[dgx-b200]", "not among its systems"),
    ],
)
def test_a_demand_without_hardware_has_the_reason_of_each_option(
    short: str, change: str, reason: str
) -> None:
    """A smaller demand does not help, and neither does more time for remedies."""
    sets = ["systems=[dgx-h200]", change]
    found = plan(short, sets=sets)
    assert found.exit_code == EXIT_INFEASIBLE
    assert reason in found.headline
    assert found.headline.endswith("no tested change gives a plan")
    (note,) = (x["message"] for x in found.warnings if "dcplan tests" in x["message"])
    assert "table excluded" in note
    (cause,) = found.tables["conflict"].rows
    assert "lower the demand" not in str(cause)


def test_no_time_for_remedies_says_what_to_run_next(short: str) -> None:
    result = plan(short, remedies_limit_s=0.1)
    assert "no remedy found in time" in result.headline
    assert any("dcplan explain" in note["message"] for note in result.warnings)


def test_a_share_of_a_maker_is_at_most_1(short: str) -> None:
    """The only system is NVIDIA's, so that half of the spending is no plan and 1 is the remedy."""
    sets = ["supply.0.racks_per_quarter=6", "vendor_share_max={NVIDIA: 0.5}"]
    found = plan(short, sets=sets)
    assert_each_holds(found, short, sets)
    assert ["vendor_share_max.NVIDIA=1"] in [edits(row) for row in remedies(found)]


def test_a_remedy_that_changes_more_for_no_lower_cost_is_left_out() -> None:
    def remedy(cost_usd: float, **amounts: float) -> Remedy:
        paths = tuple((name,) for name in amounts)
        values = tuple(f"{name}={x}" for name, x in amounts.items())
        return Remedy(Change(values, "", paths, tuple(amounts.values())), cost_usd, 1.0)

    less = remedy(10.0, demand=0.52)
    worse, cheaper = remedy(11.0, racks=24, demand=0.56), remedy(9.0, racks=24, demand=0.56)
    smaller = remedy(12.0, racks=24, demand=0.4)
    assert _least([(x, x) for x in (less, worse, smaller)]) == [less, smaller]
    assert _least([(x, x) for x in (less, cheaper)]) == [less, cheaper]


def _power(cost_usd: Callable[[float], float | None], monkeypatch: pytest.MonkeyPatch) -> Move:
    """More of one limit, with a cost by its size."""

    def cost(_: object, change: Change) -> float | None:
        return cost_usd(float(change.edits[0].partition("=")[2]))

    monkeypatch.setattr(search, "_cost_usd", cost)
    return Move(lambda size: Change((f"mw={size}",), f"{size} MW", (("mw",),)), (1.0,), gives=True)


def test_more_of_a_limit_is_a_remedy_where_it_costs_clearly_less(
    short: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From 4 MW another system fits at 20 of 100 M USD: 8, 4.5, 2.75, 3.625 and 4.0625 MW are tried."""
    move = _power(lambda mw: 20e6 if mw >= 4.0 else 100e6, monkeypatch)
    least = Remedy(Change(("mw=1",), "1 MW", (("mw",),)), 100e6, 1.0)
    wide = search._wider(_asked(short), move, least)
    assert wide is not None
    assert (wide.size, wide.cost_usd) == (4.0625, 20e6)


def test_more_of_a_limit_is_no_remedy_of_its_own_for_a_small_saving(
    short: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plan may differ by the gap of 5 %; and a smaller demand is always cheaper."""
    least = Remedy(Change(("mw=1",), "1 MW", (("mw",),)), 100e6, 1.0)
    asked = _asked(short)
    assert search._wider(asked, _power(lambda _: 91e6, monkeypatch), least) is None
    demand = replace(_power(lambda _: 20e6, monkeypatch), gives=False)
    assert search._wider(asked, demand, least) is None


def test_a_screened_change_without_a_plan_at_its_largest_size_is_tried_at_a_smaller_one(
    short: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hall ten times as large breaks the budget; twice the hall does not, and a quarter more is enough."""
    tried: list[float] = []

    def cost(mw: float) -> float | None:
        tried.append(mw)
        return 50e6 if 0.25 <= mw <= 1.0 else None

    move = replace(_power(cost, monkeypatch), ladder=(0.1, 0.25, 1.0, 9.0), screened=True)
    found = search._first(_asked(short), move)
    assert found is not None
    assert found[2].size == 0.25
    assert tried == [9.0, 1.0, 0.1, 0.25]
    never = replace(_power(lambda _: None, monkeypatch), ladder=(0.1, 9.0), screened=True)
    assert search._first(_asked(short), never) is None


def test_a_date_and_an_amount_of_one_field_are_no_remedy() -> None:
    """The later of two options for the same key would replace the first."""
    date = Change(("a.mw=shift(-1)",), "earlier", (("a", "mw"),))
    same = Move(lambda x: Change((f"a.mw={x}",), "more", (("a", "mw"),)), (1.0,))
    other = Move(lambda x: Change((f"b.mw={x}",), "more", (("b", "mw"),)), (1.0,))
    assert after(date, same).change(1.0) is None
    both = after(date, other).change(1.0)
    assert both is not None
    assert both.edits == ("a.mw=shift(-1)", "b.mw=1.0")


@pytest.mark.slow
def test_racks_of_a_hall_grow_alone_where_a_larger_hall_breaks_the_budget() -> None:
    """With 3 racks in each hall nothing meets the deadline; 30 racks in one of them do."""
    sets = [f"sites.site-a.halls.{x}.racks=3" for x in ("air", "liquid")]
    found = explain("starter", sets=sets, time_limit_s=120)
    assert ["sites.site-a.halls.air.racks=30"] in [edits(row) for row in remedies(found)]


def _asked(file: str) -> Infeasible:
    question = load(file)
    problem = build(question).problem
    return Infeasible(ScenarioRequest(file), question, problem, Clock(60.0))


@pytest.mark.slow
def test_a_remedy_does_not_stay_at_the_smallest_amount_if_that_is_expensive() -> None:
    """1 MW has room for few racks of 72 accelerators, 134.9 M USD; 1.6 MW for DGX nodes, 19.3 M USD."""
    found = explain("starter", sets=["sites.site-a.utility_mw=0.8"], time_limit_s=120)
    first, *others = remedies(found)
    assert edits(first) == ["sites.site-a.utility_mw=[0.8,1.6,1.6,1.6,1.6,1.6]"]
    assert first.npv_usd == pytest.approx(19.3e6, rel=0.05)
    assert "sites.site-a.utility_mw=[0.8,1,1,1,1,1]" in [
        edit for row in others for edit in edits(row)
    ]
    assert min(row.npv_usd for row in others) > 5 * first.npv_usd


def test_kinds_of_change_are_counted() -> None:
    """Four moves together are four kinds; a date before them is one more."""

    def change(size: float) -> Change:
        return Change((f"a={size}",), "a", (("a",),))

    four = joined([Move(change, (1.0,))] * 4)
    assert (four.kinds, four.few) == (4, False)
    assert joined([Move(change, (1.0,))] * 3).few
    assert after(change(1.0), four).kinds == 5


@pytest.mark.slow
def test_remedies_of_few_kinds_are_preferred() -> None:
    """Five limits are short. More power, rent and budget are enough, so no hall grows as well."""
    sets = [
        "finance.budget_usd=[5e6,3e6,1e6,1e6,1e6,1e6,1e6,1e6]",
        "cloud.max_accelerators=64",
        "sites.frankfurt.utility_mw=0.5",
    ]
    found = plan(RETROFIT, sets=sets, time_limit_s=120)
    rows = remedies(found)
    assert rows
    assert all(len(edits(row)) <= 3 for row in rows)
    assert_each_holds(found, RETROFIT, sets)

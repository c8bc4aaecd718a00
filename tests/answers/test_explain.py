"""Explain: conflicts name the line, prices have the right sign, forcing never saves."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan.answers.explain.answer import explain
from dcplan.answers.explain.infeasible import conflict_rows
from dcplan.economics.cash_flow import GROUPS
from dcplan.errors import InputError
from dcplan.planning.keys import Key
from dcplan.planning.limit_rows import family_of, words_of
from dcplan.scenario.load import load
from dcplan.specs import explain as specs
from tests.answers.one_hall import one_hall
from tests.plans import planned

FILE = "train-405b-in-90-days"


@pytest.mark.slow
def test_the_conflict_is_a_few_lines_of_the_users_own() -> None:
    found = explain(
        "retrofit-air-hall",
        sets=["sites.frankfurt.utility_mw=0.2", "cloud.max_accelerators=64"],
        time_limit_s=40,
    )
    rows = specs.CONFLICT.rows(found.tables["conflict"])
    limits = {row.limit.split(" in ")[0] for row in rows}
    assert limits == {"utility_mw of frankfurt", "demand research", "cloud.max_accelerators"}
    assert all(row.place for row in rows)


def test_equal_limits_of_a_conflict_are_one_row_with_the_sum_of_their_rows() -> None:
    """Four rows of one system in one hall have the same words, so a reader sees one row."""
    question = load(FILE)
    ids = ("ashburn/liquid", "gb200-nvl72")
    rows = [
        Key("job_runs_once", ("flagship",)),
        *(Key("accelerators_for_jobs", (*ids, "a", month)) for month in range(3)),
        Key("accelerators_for_jobs", (*ids, "b", 0)),
    ]
    found = conflict_rows(question, rows, "2027-Q1")
    assert [(row.limit, row.quarters) for row in found] == [
        ("job flagship must run", 1),
        ("accelerators of gb200-nvl72 in ashburn/liquid", 4),
    ]


def test_why_not_and_what_if() -> None:
    found = explain(
        FILE,
        why_not=["gb300-nvl72", "gb200-nvl72", "cs-3"],
        what_if=["sites.ashburn.energy.usd_per_kwh=0.12"],
    )
    rows = {row.system: row for row in specs.WHY_NOT.rows(found.tables["why_not"])}
    forced = rows["gb300-nvl72"]
    assert forced.npv_usd is not None
    gap = 0.01 * found.value("cost.npv_usd")
    assert forced.npv_usd >= -gap
    # the lines add up to the whole
    lines = [getattr(forced, f"{group}_npv_usd") for group in GROUPS]
    assert sum(lines) == pytest.approx(forced.npv_usd, abs=1.0)
    assert rows["gb200-nvl72"].note == "the plan already orders it"
    assert rows["cs-3"].npv_usd is None
    changed = {row.metric: row for row in specs.WHAT_IF.rows(found.tables["what_if"])}
    assert float(str(changed["cost.energy_usd"].change)) > 0


def test_a_system_that_does_not_exist_is_refused_with_a_hint() -> None:
    with pytest.raises(InputError) as caught:
        explain(FILE, why_not=["gb300-nvl7"])
    assert "gb300-nvl72" in caught.value.problems[0].hint


def test_one_more_unit_of_a_binding_limit_never_costs() -> None:
    """A tight budget of power: the price is not positive, the exact one neither."""
    found = explain(FILE, sets=["sites.ashburn.utility_mw=8.3"], resolve_limits=2)
    rows = specs.BINDING.rows(found.tables["binding"])
    assert rows
    assert all(row.cost_change_usd <= 1e-6 for row in rows)
    idle = {row.what: row for row in specs.UNUSED_CAPACITY.rows(found.tables["unused_capacity"])}
    assert "utility MW" not in idle
    assert "utility MW of ashburn" in idle["rack positions"].limited_by


def test_rows_in_words() -> None:
    assert family_of(Key("cloud_limit", (23,))) == Key("cloud_limit")
    assert words_of(Key("utility_mw", ("ashburn", 2)), "2027-Q1") == (
        "utility_mw of ashburn in 2027-Q3",
        "MW more",
    )


def test_what_explain_cannot_do_is_refused_by_name() -> None:
    with pytest.raises(InputError) as caught:
        explain(FILE, sets=["objective=min_time"])
    assert "objective min_time is not supported here" in caught.value.problems[0].cause
    with pytest.raises(InputError) as caught:
        explain(FILE, what_if=["nope"])
    assert "--what-if" in str(caught.value)
    assert "--set" not in str(caught.value.problems[0].place)


def test_a_question_the_model_cannot_state_is_answered_without_it(tmp_path: Path) -> None:
    """A demand that nothing can serve, a fleet that no fabric connects: the reason, never a bug."""
    file = tmp_path / "x.yaml"
    file.write_text(
        "dcplan: 1\nname: x\nhorizon: {start: 2027-Q1, quarters: 4}\n"
        "sites: [{id: a, location: us-ashburn, utility_mw: 4, "
        "halls: [{id: h, racks: 50, rack_kw_max: 45, it_mw: 2, cooling: [air-chiller]}]}]\n"
        "fleet: {system: dgx-h200, accelerators: 64}\n"
        "workloads: {capacity: [{id: r, pflops_delivered: 5, utilization_frac: 0.5, "
        "reference: {model: llama-3.1-70b, seq_len: 8192}}]}\n"
    )
    found = explain(file)
    assert found.exit_code == 3
    assert "infeasible, found before solving" in found.headline


def test_a_plan_prices_its_limits_as_explain_does() -> None:
    made = planned("retrofit-air-hall", gap=0.05)
    other = explain("retrofit-air-hall", gap=0.05, resolve_limits=0)
    first = [(r["limit"], r["step"], r["cost_change_usd"]) for r in made.tables["limits"].records()]
    assert first == [
        (r["limit"], r["step"], r["cost_change_usd"]) for r in other.tables["binding"].records()
    ]
    assert any(price < 0 and "pflops_delivered less" in step for _, step, price in first)
    assert (
        planned("train-405b-in-90-days", sets=["objective=min_time"], gap=0.05)
        .tables["limits"]
        .rows
        == ()
    )


def test_a_demand_is_priced_in_the_scenarios_own_unit(tmp_path: Path) -> None:
    """One busy accelerator is 2,191.5 hours of a quarter (24 x 91.3125); the limit says so and not
    `1 hour`."""
    rows = explain(one_hall(tmp_path, 100_000), resolve_limits=0).tables["binding"].records()
    demand = next(r for r in rows if str(r["limit"]).startswith("demand r"))
    assert demand["step"] == "2,191.5 accelerator_hours less"

"""dcplan/scenario/expect.py: gates on metrics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.scenario.expect import check_metrics, evaluate, known_metrics
from dcplan.scenario.schema import Expectation
from dcplan.specs.plan.metrics import WAITING_SAVES
from tests.scenario.samples import GOOD, asked

VALUES: dict[str, float | str | None] = {
    "cost.npv_usd": 100.0,
    "train.a.finish": "2027-Q3",
    "racks.a": 2,
}


def one(metric: str = "cost.npv_usd", **limits: Any) -> dict[str, Any]:
    [row] = evaluate([Expectation(id="e", metric=metric, **limits)], VALUES)
    return row


@pytest.mark.parametrize(
    ("limits", "passed", "limit"),
    [
        ({"max": 100}, True, "<= 100"),
        ({"max": 99.9}, False, "<= 99.9"),
        ({"min": 100}, True, ">= 100"),
        ({"min": 100.1}, False, ">= 100.1"),
        ({"equals": 101, "tol": 1}, True, "= 101 ± 1"),
        ({"equals": 101, "tol": 0.5}, False, "= 101 ± 0.5"),
        ({"equals": 100}, True, "= 100 ± 0"),
        ({"min": 90, "max": 110}, True, "<= 110, >= 90"),
        ({"min": 110, "max": 120}, False, "<= 120, >= 110"),
    ],
)
def test_limits_hold_or_not(limits: dict, passed: bool, limit: str) -> None:
    row = one(**limits)
    assert (row["passed"], row["limit"], row["observed"]) == (passed, limit, 100.0)


def test_what_was_not_bought_counts_as_nought() -> None:
    assert one("racks.other", max=0)["passed"] is True
    assert one("accelerators.other", min=1)["passed"] is False


@pytest.mark.parametrize(
    ("metric", "limits", "reason"),
    [
        ("cost.npv_usd", {"change_pct_max": 5}, "no base"),
        ("cost.npv_usd", {"change_max": 5, "against": "last"}, "no base"),
        ("owned.npv_usd", {"max": 1}, "not a metric of this verb"),
        ("cost.waiting_saves_usd", {"max": 1}, "this plan has no such value"),
    ],
)
def test_what_cannot_be_checked_is_skipped_with_its_reason(
    metric: str, limits: dict, reason: str
) -> None:
    row = one(metric, **limits)
    assert row["passed"] is None
    assert row["reason"].startswith(reason)


@pytest.mark.parametrize("value", [None, "2027-01-01"])
@pytest.mark.parametrize("limits", [{"max": 1}, {"min": 1}, {"change_max": 5}])
def test_what_is_not_known_fails_its_gate(value: str | None, limits: dict) -> None:
    """Neither green nor skipped: a footprint that nobody published is not below its limit."""
    [row] = evaluate([Expectation(id="e", metric="m", **limits)], {"m": value})
    assert row["passed"] is False
    assert row["reason"] == "the value is not a number"


def test_an_unknown_value_with_a_known_reason_names_it() -> None:
    """Time ended before the saving of later starts was known: the gate says so, and what to do."""
    gate = Expectation(id="e", metric=WAITING_SAVES.key, max=1)
    [row] = evaluate([gate], {WAITING_SAVES.key: None})
    assert row["passed"] is False
    assert row["reason"] == WAITING_SAVES.unknown
    assert "--time-limit" in row["reason"]


def test_who_and_how_severe_are_kept() -> None:
    row = one(max=1, severity="warn", owner="facilities", note="target")
    assert (row["id"], row["severity"], row["owner"], row["note"]) == (
        "e",
        "warn",
        "facilities",
        "target",
    )


def test_an_expectation_without_a_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="an expectation needs one of"):
        Expectation(id="e", metric="m")


def test_unknown_metrics_are_found_before_anything_runs(tmp_path: Path) -> None:
    text = GOOD + (
        "expect:\n"
        "  - {id: a, metric: cost.npv_us, max: 1}\n"
        "  - {id: b, metric: train.job.days, max: 90}\n"
        "  - {id: c, metric: owned.npv_usd, max: 1}\n"
        "  - {id: d, metric: racks.dgx-h20, max: 1}\n"
    )
    question = asked(tmp_path, text)
    problems = check_metrics(question.scenario, question.catalog, question.tree)
    assert [(p.code, p.hint, p.place.line if p.place else 0) for p in problems] == [
        ("DC040", 'did you mean "cost.npv_usd"?', 18),
        ("DC040", 'did you mean "racks.dgx-h200"?', 21),
    ]


def test_known_metrics_name_the_jobs_and_systems_of_the_scenario(tmp_path: Path) -> None:
    question = asked(tmp_path)
    known = known_metrics(question.scenario, question.catalog)
    assert {"train.job.days_p50", "unserved.job", "racks.dgx-h200", "solver.gap_frac"} <= known


@settings(max_examples=60, deadline=None)
@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9), st.floats(0, 1e9))
def test_a_looser_limit_never_fails_what_a_tighter_one_passes(
    value: float, limit: float, slack: float
) -> None:
    def passed(**limits: float) -> bool:
        [row] = evaluate([Expectation(id="e", metric="m", **limits)], {"m": value})  # type: ignore[arg-type]
        return bool(row["passed"])

    assert passed(max=limit + slack) or not passed(max=limit)
    assert passed(min=limit - slack) or not passed(min=limit)
    assert passed(max=limit) or passed(min=limit)


FINISH = "train.job.finish"


def finished(day: str | None, base: str | None = None, **limits: Any) -> dict[str, Any]:
    gate = Expectation(id="e", metric=FINISH, **limits)
    [row] = evaluate([gate], {FINISH: day}, {"base": {FINISH: base}} if base else {})
    return row


@pytest.mark.parametrize(
    ("limits", "passed", "limit"),
    [
        ({"max": "2027-08-21"}, True, "<= 2027-08-21"),
        ({"max": "2027-08-20"}, False, "<= 2027-08-20"),
        ({"max": "2027-Q3"}, True, "<= 2027-Q3"),  # up to 30 September
        ({"max": "2027-Q2"}, False, "<= 2027-Q2"),
        ({"min": "2027-Q3"}, True, ">= 2027-Q3"),  # from 1 July
        ({"min": "2027-Q4"}, False, ">= 2027-Q4"),
        ({"equals": "2027-Q3"}, True, "= 2027-Q3"),
        ({"equals": "2027-08-22"}, False, "= 2027-08-22"),
    ],
)
def test_a_finish_is_compared_with_a_date_or_a_quarter(
    limits: dict, passed: bool, limit: str
) -> None:
    row = finished("2027-08-21", **limits)
    assert (row["passed"], row["limit"], row["observed"]) == (passed, limit, "2027-08-21")


@pytest.mark.parametrize(("day", "last"), [("2027-09-30", True), ("2027-10-01", False)])
def test_a_quarter_ends_with_its_last_day(day: str, last: bool) -> None:
    assert finished(day, max="2027-Q3")["passed"] is last
    assert finished("2028-12-31", max="2028-Q4")["passed"] is True


def test_a_change_of_a_finish_is_in_days() -> None:
    """From 2027-08-21 to 2027-09-01: 10 days in August and 1 in September."""
    row = finished("2027-09-01", "2027-08-21", change_max=10)
    assert (row["passed"], row["base"]) == (False, "2027-08-21")
    assert row["limit"] == "change <= 10 days (is +11 days)"
    assert finished("2027-09-01", "2027-08-21", change_max=11)["passed"] is True


def test_a_finish_that_is_not_known_fails_its_gate() -> None:
    assert finished(None, max="2027-Q3")["passed"] is False


def test_a_limit_of_the_wrong_kind_is_refused(tmp_path: Path) -> None:
    text = GOOD + (
        "expect:\n"
        "  - {id: a, metric: train.job.finish, max: 90}\n"
        "  - {id: b, metric: train.job.days, max: 2027-Q3}\n"
        "  - {id: c, metric: train.job.finish, max: 2027-02-29}\n"
        "  - {id: d, metric: train.job.finish, change_pct_max: 3}\n"
    )
    question = asked(tmp_path, text)
    found = [p.cause for p in check_metrics(question.scenario, question.catalog, question.tree)]
    assert found == [
        "a: max of train.job.finish is a date (2027-09-01) or a quarter (2027-Q3), not 90.0",
        "b: max of train.job.days is a number, not 2027-Q3",
        "c: 2027-02-29 is not a day of the calendar",
        "d: train.job.finish is a date, which has no change_pct_max",
    ]

"""dcplan/scenario/shift.py: series and quarters moved in time by --set, overrides and sweeps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcplan.errors import InputError, Problem
from dcplan.scenario.axes import split_sets
from dcplan.scenario.shift import shifted
from dcplan.study.sweep.request import SweepRequest
from dcplan.study.sweep.run import laid_out
from tests.scenario.samples import (
    KEY,
    TEXT,
    asked,
    chat,
    grown,
    refused,
    spot,
    utility,
    values,
    with_series,
    with_utility,
    written,
)

NUMBERS = st.lists(st.floats(0, 1e9), min_size=2, max_size=12)
UTILITY = ("sites", 0, "utility_mw")


@pytest.mark.parametrize(
    ("series", "change", "expected"),
    [
        ("[1, 2, 3, 4]", "shift(2)", [1, 1, 1, 2]),
        ("[1, 2, 3, 4]", "shift(-1)", [2, 3, 4, 4]),
        ("[1, 2, 3, 4]", "shift(9)", [1, 1, 1, 1]),
        ("[1, 2, 3, 4]", " shift( +1 ) ", [1, 1, 2, 3]),
        ("{start: 1, growth_frac_per_quarter: 1}", "shift(2)", [1, 1, 1, 2]),
        ("{start: 1, growth_frac_per_quarter: 1}", "shift(-1)", [2, 4, 8, 16]),
        ("{start: 1, growth_frac_per_quarter: 1, from: 2027-Q2}", "shift(1)", [0, 0, 1, 2]),
        ("{start: 1, growth_frac_per_quarter: 1, from: 2027-Q2}", "shift(-2)", [2, 4, 8, 16]),
    ],
)
def test_a_series_moves_in_time(
    tmp_path: Path, series: str, change: str, expected: list[float]
) -> None:
    sets = [f"sites.ashburn.utility_mw={change}"]
    assert utility(asked(tmp_path, with_utility(series), sets=sets)) == expected


def test_a_shifted_growth_keeps_its_place_and_says_so(tmp_path: Path) -> None:
    question = asked(tmp_path, TEXT, sets=[f"{KEY}=shift(1)", f"{KEY}=shift(1)"])
    assert values(question) == pytest.approx([2e5, 2e5, 2e5, 2.3e5])
    assert chat(question)[0].note == "200,000 growing 15% a quarter, 2 quarters later"
    assert spot(tmp_path, chat(question)[0].at).startswith("s.yaml:")
    one = asked(tmp_path, TEXT, sets=[f"{KEY}=shift(-1)"])
    assert str(chat(one)[0].note).endswith(", 1 quarter earlier")


def test_a_quarter_moves(tmp_path: Path) -> None:
    text = TEXT.replace("it_mw: 11,", "it_mw: 11, available_from: 2027-Q1,")
    text = text.replace("precision: [bf16]", "precision: [bf16], start: 2027-Q2, deadline: 2027-Q3")
    sets = [
        "sites.ashburn.halls.liquid.available_from=shift(3)",
        "workloads.training.job.start=shift(-1)",
        "workloads.training.job.deadline=shift(1)",
    ]
    scenario = asked(tmp_path, text, sets=sets).scenario
    job = scenario.workloads.training[0]
    assert scenario.sites[0].halls[0].available_from == "2027-Q4"
    assert (job.start, job.deadline) == ("2027-Q1", "2027-Q4")
    late = with_series("{start: 1, growth_frac_per_quarter: 0, from: 2027-Q1}")
    assert values(asked(tmp_path, late, sets=[f"{KEY}.from=shift(1)"])) == [0, 1, 1, 1]


@pytest.mark.parametrize(
    ("change", "code", "cause"),
    [
        ("sites.ashburn.utility_mw=shift(2)", "DC004", "a number does not vary in time"),
        ("sites.ashburn.utility_mw=shift(1.5)", "DC004", "expected an integer from -80 to 80"),
        ("sites.ashburn.utility_mw=shift()", "DC004", "expected an integer"),
        ("sites.ashburn.utility_mw=shift(99)", "DC004", "expected an integer"),
        ("sites.ashburn.energy.usd_per_kwh=shift(1)", "DC014", "no value to shift"),
        ("workloads.training.job.deadline=shift(1)", "DC014", "no value to shift"),
        ("systems=shift(1)", "DC004", "only a quarter or a series"),
        ("finance.discount_rate=shift(1)", "DC004", "only a quarter or a series"),
    ],
)
def test_a_wrong_shift_is_refused(tmp_path: Path, change: str, code: str, cause: str) -> None:
    [problem] = refused(tmp_path, sets=[change])
    assert (problem.code, cause in problem.cause) == (code, True), problem
    assert str(problem.place).startswith("--set")
    assert problem.help


def test_growth_that_begins_after_the_horizon_is_refused(tmp_path: Path) -> None:
    text = with_utility("{start: 1, growth_frac_per_quarter: 0, from: 2027-Q3}")
    [problem] = refused(tmp_path, text, sets=["sites.ashburn.utility_mw=shift(2)"])
    assert "2027-Q3 2 quarters later is outside the horizon" in problem.cause


def test_a_misspelled_shift_in_a_sweep_gets_a_suggestion() -> None:
    assert split_sets(["a=shift(1)"]) == ([], ["a=shift(1)"])
    with pytest.raises(InputError, match='did you mean "shift"'):
        split_sets(["a=shfit(1)"])


def test_a_file_sweeps_and_overrides_with_shifts(tmp_path: Path) -> None:
    text = with_utility("[1, 2, 3, 4]") + (
        "sweep: {sites.ashburn.utility_mw: [shift(-1), shift(1)]}\n"
        "overrides: {late: {sites.ashburn.utility_mw: shift(2)}}\n"
        "scenarios: {late: [late]}\n"
    )
    question = asked(tmp_path, text, variant="late")
    assert utility(question) == [1, 1, 1, 2]
    layout = laid_out(SweepRequest(str(written(tmp_path, text)), dry_run=True))
    found = sorted(utility(p.ref.question()) for p in layout.points.values())
    assert found == [[1, 1, 2, 3], [2, 3, 4, 4]]


@given(NUMBERS, st.integers(1, 40), st.integers(1, 40))
def test_shifts_of_a_list_add_up(numbers: list[float], n: int, m: int) -> None:
    def shift(node: Any, by: int) -> Any:
        return shifted(node, UTILITY, f"shift({by})", Problem)

    assert shift(numbers, 0) == numbers
    assert shift(shift(numbers, 1), 1) == shift(numbers, 2)
    assert shift(shift(numbers, n), m) == shift(numbers, min(n + m, 80))
    assert shift(shift(numbers, -n), -m) == shift(numbers, -min(n + m, 80))
    assert len(shift(numbers, n)) == len(numbers)


@given(st.floats(1, 1e6), st.floats(-0.5, 0.5), st.integers(-8, 8))
def test_a_shifted_growth_is_the_growth_at_another_quarter(start: float, g: float, n: int) -> None:
    growth = {"start": start, "growth_frac_per_quarter": g}
    moved = shifted(growth, UTILITY, f"shift({n})", Problem)
    late = [start * (1 + g) ** max(t - n, 0) for t in range(6)]
    assert grown(moved, 6) == pytest.approx(late, rel=1e-12)
    back = shifted(moved, UTILITY, f"shift({-n})", Problem)
    assert grown(back, 6) == grown(growth, 6)

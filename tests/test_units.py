"""dcplan/units.py: suffixes, short numbers, quarters."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan import units
from dcplan.units import quarter_index, quarter_name, si, unit_of


def test_a_quarter_is_91_3125_days_and_2191_5_hours() -> None:
    # a mean year has 365.25 days: 365.25 / 4 = 91.3125 days; x 24 = 2191.5 h
    assert pytest.approx(91.3125, abs=1e-12) == units.DAYS_PER_QUARTER
    assert pytest.approx(2191.5, abs=1e-9) == units.HOURS_PER_QUARTER
    # 365.25 / 12 = 30.4375; three of them are a quarter
    assert (
        pytest.approx(units.DAYS_PER_QUARTER, abs=1e-9)
        == units.DAYS_PER_MONTH * units.MONTHS_PER_QUARTER
    )


def test_a_year_has_one_length() -> None:
    # 365.25 days of 24 hours; weather leaves out 29 February: 365 x 24
    assert units.HOURS_PER_YEAR == 8_766
    assert units.TYPICAL_YEAR_HOURS == 8_760


def test_a_unit_is_defined_in_one_place(repo: Path) -> None:
    known = set(_constants(repo / "dcplan" / "units.py")) - {"SUFFIXES"}
    assert {"HOURS_PER_YEAR", "KW_PER_MW", "GIGA"} <= known
    again = [
        f"{file.relative_to(repo)}: {name}"
        for file in sorted((repo / "dcplan").rglob("*.py"))
        if file != repo / "dcplan" / "units.py"
        for name in _constants(file)
        if name in known
    ]
    assert again == []


def _constants(file: Path) -> Iterator[str]:
    """Names that a module assigns at its top."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        targets = (
            node.targets
            if isinstance(node, ast.Assign)
            else [node.target]
            if isinstance(node, ast.AnnAssign)
            else []
        )
        for target in targets:
            for one in target.elts if isinstance(target, ast.Tuple) else [target]:
                if isinstance(one, ast.Name):
                    yield one.id


@pytest.mark.parametrize(
    ("suffix", "unit"),
    [  # endings of names, as docs/contributing.md asks for them
        ("kw", "kW"),
        ("mw", "MW"),
        ("mwh", "MWh"),
        ("gbps", "Gb/s"),
        ("gb", "GB"),
        ("gib", "GiB"),
        ("tb", "TB"),
        ("pb", "PB"),
        ("usd", "USD"),
        ("usd_per_kwh", "USD/kWh"),
        ("usd_per_kw_month", "USD/kW-month"),
        ("c", "°C"),
        ("l_per_min", "L/min"),
        ("s", "s"),
        ("h", "h"),
        ("days", "days"),
        ("years", "years"),
        ("tflops", "TFLOP/s"),
        ("pflops", "PFLOP/s"),
        ("kg", "kg"),
        ("t", "t"),
        ("frac", "fraction"),
    ],
)
def test_every_suffix_of_the_design_has_its_unit(suffix: str, unit: str) -> None:
    assert unit_of(suffix) == unit
    assert unit_of(f"some_name_{suffix}") == unit


def test_the_longest_suffix_wins() -> None:
    assert unit_of("demand_usd_per_kw_month") == "USD/kW-month"
    assert unit_of("annual_wue_l_per_kwh") == "L/kWh"
    assert unit_of("hbm_tb_per_s") == "TB/s"


@pytest.mark.parametrize(
    "name", ["racks", "accelerators", "pue", "watts", "launch", "mkw", "scaleup_domain"]
)
def test_a_name_without_suffix_has_no_unit(name: str) -> None:
    assert unit_of(name) == ""


@pytest.mark.parametrize("name", ["tokens_per_s", "racks_per_h", "tokens_per_s_per_accelerator"])
def test_a_rate_is_not_given_the_unit_of_its_denominator(name: str) -> None:
    assert unit_of(name) not in {"s", "h"}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (7.5, "7.5"),
        (0.0123, "0.0123"),
        (999, "999"),
        (1000, "1 k"),
        (-1500, "-1.5 k"),
        (412.3e6, "412 M"),
        (7e9, "7 G"),
        (2.34e12, "2.34 T"),
    ],
)
def test_si_writes_three_digits(value: float, text: str) -> None:
    assert si(value) == text


@settings(max_examples=200, deadline=None)
@given(st.floats(0.001, 9e14))
def test_si_reads_back_within_half_a_percent_and_needs_no_exponent(value: float) -> None:
    text = si(value)
    number, _, mark = text.partition(" ")
    assert "e" not in number, f"si({value}) = {text}"
    scale = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[mark]
    # three significant digits: at worst 1.005 shown as 1.00 or 1.01, that is 0.5 %
    assert float(number) * scale == pytest.approx(value, rel=0.0051)


@pytest.mark.parametrize(
    "bad", ["2027", "2027-Q0", "2027-Q5", "27-Q1", "2027-q1", "2027-Q", "", "abcd-Q1"]
)
def test_a_wrong_quarter_is_refused_with_an_example(bad: str) -> None:
    with pytest.raises(
        ValueError, match=re.escape(f"expected a quarter such as 2027-Q3, got {bad!r}")
    ):
        quarter_index(bad)


def test_quarter_index_counts_quarters() -> None:
    # 2027-Q3: 2027 x 4 + 2 = 8110
    assert quarter_index("2027-Q3") == 8110
    assert quarter_index("2028-Q1") - quarter_index("2027-Q2") == 3


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 9999), st.integers(1, 4), st.integers(-8, 8))
def test_quarter_names_round_trip_and_keep_their_order(year: int, quarter: int, step: int) -> None:
    name = f"{year:04d}-Q{quarter}"
    index = quarter_index(name)
    assert quarter_name(index) == name
    if 0 <= index + step < 40000:
        assert quarter_index(quarter_name(index + step)) == index + step

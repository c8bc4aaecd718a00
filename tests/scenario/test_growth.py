"""dcplan/scenario/series.py, shift.py and schema/rates.py: growth, units of rates, shifts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from dcplan.answers.reference.schema import schema
from dcplan.provenance import Status
from dcplan.scenario.schema import Scenario
from dcplan.scenario.schema.rates import PERIODS_S, RequestRates, per_second
from dcplan.scenario.series import expanded, series_fields
from dcplan.scenario.tree import Tree
from dcplan.study.sweep.request import SweepRequest
from dcplan.study.sweep.run import laid_out
from tests.scenario.samples import (
    CHAT,
    GOOD,
    GROWTH,
    KEY,
    TEXT,
    asked,
    chat,
    grown,
    refused,
    spot,
    values,
    with_series,
    with_utility,
    written,
)


def test_a_growing_series_has_one_value_per_quarter(tmp_path: Path) -> None:
    """2e5 * 1.15 = 230,000; * 1.15 = 264,500; * 1.15 = 304,175."""
    question = asked(tmp_path, TEXT)
    assert values(question) == pytest.approx([200_000, 230_000, 264_500, 304_175], rel=1e-12)
    for quantity in chat(question):
        assert quantity.status is Status.DERIVED
        assert quantity.note == "200,000 growing 15% a quarter"
        line = TEXT.splitlines().index(f"      tokens_per_s: {GROWTH}") + 1
        assert spot(tmp_path, quantity.at) == f"s.yaml:{line}:21"


def test_bounds_source_and_status_come_from_the_start(tmp_path: Path) -> None:
    """Third quarter at -10 %: 4 * 0.81 = 3.24, 3 * 0.81 = 2.43, 6 * 0.81 = 4.86."""
    start = "{value: 4, low: 3, high: 6, source: estimate of sales, note: letter}"
    text = with_utility(f"{{start: {start}, growth_frac_per_quarter: -0.1}}")
    third = asked(tmp_path, text).scenario.sites[0].utility_mw[2]
    assert (third.value, *third.bounds) == pytest.approx((3.24, 2.43, 4.86), rel=1e-12)
    assert (third.source, third.status) == ("estimate of sales", Status.ESTIMATE)
    assert third.note == "letter; 4 falling 10% a quarter"


def test_a_start_in_another_currency_is_converted_once(tmp_path: Path) -> None:
    """0.1 EUR * 1.1 USD = 0.11 USD; * 1.5 = 0.165, * 2.25 = 0.2475."""
    energy = "{start: {value: 0.1, currency: EUR}, growth_frac_per_quarter: 0.5}"
    text = GOOD.replace("finance:", "fx: {EUR: 1.1}\nfinance:").replace(
        "utility_mw: 14", f"utility_mw: 14\n    energy: {{usd_per_kwh: {energy}}}"
    )
    found = asked(tmp_path, text).scenario.sites[0].energy.usd_per_kwh
    assert found is not None
    assert [q.value for q in found][:3] == pytest.approx([0.11, 0.165, 0.2475], rel=1e-12)
    assert found[0].note == "0.1 EUR at 1.1 USD; 0.11 growing 50% a quarter"


def test_growth_counts_from_its_first_quarter(tmp_path: Path) -> None:
    text = with_series("{start: 100, growth_frac_per_quarter: 1, from: 2027-Q3}")
    question = asked(tmp_path, text)
    assert values(question) == [0, 0, 100, 200]
    assert chat(question)[0].note == "0 before 2027-Q3"
    assert chat(question)[3].note == "100 growing 100% a quarter from 2027-Q3"


def test_every_series_of_the_scenario_grows() -> None:
    """Each field of the type, so also one that is added later; a share begins at 0.2."""
    assert len(series_fields()) >= 13
    for pattern in series_fields():
        start = 0.2 if pattern[-1].endswith("_frac") else 8.0
        node: Any = {"start": start, "growth_frac_per_quarter": 0.5}
        for part in reversed(pattern):
            node = [node] if part == "*" else {part: node}
        data = {**node, "horizon": {"start": "2027-Q1", "quarters": 3}}
        found, problems = expanded(data, Tree(data), lambda _: "here")
        assert problems == []
        for part in pattern:
            found = found[0 if part == "*" else part]
        values = [q.value for q in found]
        assert values == pytest.approx([start, start * 1.5, start * 2.25]), pattern
        assert found[2].at == "here"


@pytest.mark.parametrize(
    ("series", "code", "cause", "hint"),
    [
        ("{growth_frac_per_quarter: 0.1}", "DC003", "growth needs start", "start: 2e5"),
        ("{start: 4}", "DC003", "growth needs growth_frac_per_quarter", "start: 2e5"),
        (
            "{start: 4, growth_frac_per_quarters: 0.1, growth_frac_per_quarter: 0.1}",
            "DC002",
            "growth_frac_per_quarters: unknown field",
            'did you mean "growth_frac_per_quarter"?',
        ),
        ("{start: [4, 5], growth_frac_per_quarter: 0.1}", "DC004", "got a list", "without start"),
        ("{start: -4, growth_frac_per_quarter: 0.1}", "DC004", "must not be negative", "2e5"),
        ("{start: no, growth_frac_per_quarter: 0.1}", "DC004", "start: expected", "2e5"),
        ("{start: {value: 4, low: 5}, growth_frac_per_quarter: 0}", "DC004", "low <= value", "2e5"),
        ("{start: 4, growth_frac_per_quarter: -1}", "DC004", "above -1", "0.15 is 15%"),
        ("{start: 4, growth_frac_per_quarter: 15}", "DC004", "at most 10, got 15", "0.15 is 15%"),
        ("{start: 4, growth_frac_per_quarter: 15%}", "DC004", "got '15%'", "0.15 is 15%"),
        ("{start: 4, growth_frac_per_quarter: true}", "DC004", "got True", "0.15 is 15%"),
        ("{start: 4, growth_frac_per_quarter: .nan}", "DC004", "got nan", "0.15 is 15%"),
        ("{start: 1e18, growth_frac_per_quarter: 1}", "DC004", "exceeds 1e+18", "2e5"),
        (
            "{start: 4, growth_frac_per_quarter: 0, from: 2028-Q1}",
            "DC015",
            "2028-Q1 is outside the horizon 2027-Q1 to 2027-Q4",
            "leave from out",
        ),
        ("{start: 4, growth_frac_per_quarter: 0, from: 2026-Q4}", "DC015", "outside", "leave from"),
        ("{start: 4, growth_frac_per_quarter: 0, from: 2027}", "DC004", "as 2027-Q3, got", "2e5"),
        ("{start: 4, growth_frac_per_quarter: 0, shift_quarters: 0.5}", "DC004", "integer", "two"),
    ],
)
def test_a_wrong_growth_is_refused_at_its_place(
    tmp_path: Path, series: str, code: str, cause: str, hint: str
) -> None:
    [problem] = refused(tmp_path, with_utility(series))
    assert (problem.code, cause in problem.cause) == (code, True), problem
    assert hint in f"{problem.hint} {problem.help}"
    assert problem.cause.startswith("sites.0.utility_mw")
    assert problem.place is not None
    assert problem.place.line == 8


def test_all_problems_of_a_file_are_reported_at_once(tmp_path: Path) -> None:
    text = with_utility("{strat: 4}").replace("quarters: 4", "quarters: four")
    text = text.replace("strat: 4", "start: 4, growth: 0.1")
    causes = [p.cause for p in refused(tmp_path, text)]
    assert [c.partition(":")[0] for c in causes] == [
        "horizon.quarters",
        "sites.0.utility_mw",
        "sites.0.utility_mw.growth",
    ]


def test_set_changes_the_keys_of_a_growth(tmp_path: Path) -> None:
    """3e5 * 1.2 = 360,000."""
    sets = [f"{KEY}.growth_frac_per_quarter=0.2", f"{KEY}.start=3e5"]
    assert values(asked(tmp_path, TEXT, sets=sets))[:2] == pytest.approx([3e5, 3.6e5])
    assert values(asked(tmp_path, TEXT, sets=[f"{KEY}=5"])) == [5]
    assert values(asked(tmp_path, TEXT, sets=[f"{KEY}.from=2027-Q4"])) == [0, 0, 0, 2e5]
    [problem] = refused(tmp_path, TEXT, sets=[f"{KEY}.growth=0.2"])
    assert (problem.code, str(problem.place)) == ("DC002", f"--set {KEY}.growth:1:1")


@pytest.mark.parametrize("series", ["14", "[14, 14, 14, 14]"])
def test_a_growth_key_of_a_number_names_the_form(tmp_path: Path, series: str) -> None:
    key = "sites.ashburn.utility_mw.growth_frac_per_quarter"
    [problem] = refused(tmp_path, with_utility(series), sets=[f"{key}=0.1"])
    assert problem.code == "DC014"
    assert problem.help == "give {start: 2e5, growth_frac_per_quarter: 0.15}"


def test_an_extending_file_merges_growth_and_replaces_a_number(tmp_path: Path) -> None:
    written(tmp_path, with_series("{value: 7, source: letter}"), "base.yaml")
    head = "dcplan: 1\nextends: base.yaml\nworkloads: {inference: [{id: chat, tokens_per_s: "
    child = written(tmp_path, f"{head}{{start: 8, growth_frac_per_quarter: 0}}}}]}}\n", "c.yaml")
    grandchild = f"{head.replace('base', 'c')}{{growth_frac_per_quarter: 1}}}}]}}\n"
    assert child.exists()
    assert values(asked(tmp_path, grandchild)) == [8, 16, 32, 64]


def test_a_sweep_varies_growth_and_shifts(tmp_path: Path) -> None:
    file = written(tmp_path, TEXT)
    sets = (f"{KEY}.growth_frac_per_quarter=0.1,0.2", f"{KEY}=shift(0),shift(1)")
    layout = laid_out(SweepRequest(str(file), sets=sets[:1], dry_run=True))
    assert [v[0] for v in layout.values] == [0.1, 0.2]
    found = {p.ref.sets: values(p.ref.question()) for p in layout.points.values()}
    assert sorted(v[1] for v in found.values()) == pytest.approx([2.2e5, 2.4e5])
    layout = laid_out(SweepRequest(str(file), sets=sets[1:], dry_run=True))
    found = {p.ref.sets: values(p.ref.question()) for p in layout.points.values()}
    assert sorted(v[1] for v in found.values()) == pytest.approx([2e5, 2.3e5])


# Units of rates


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3 tokens/s", 3.0),
        ("90 tokens/min", 1.5),
        ("7200 tokens/h", 2.0),
        ("2e9 tokens/day", 2e9 / 86_400),
        ("6.048e5 tokens / week", 1.0),
        ("2.6298e6tokens/month", 1.0),  # 365.25 / 12 days of 86,400 s
        ("3.15576e7 tokens/year", 1.0),  # 365.25 days of 86,400 s
    ],
)
def test_a_rate_has_a_unit(tmp_path: Path, text: str, expected: float) -> None:
    for form in (text, f"[{text}]", f"{{value: {text}}}", f"'{text}'"):
        [found] = chat(asked(tmp_path, with_series(form)))
        assert found.value == pytest.approx(expected, rel=1e-12)
        assert (found.status, found.note) == (Status.INPUT, text)
    start = asked(tmp_path, with_series(f"{{start: {text}, growth_frac_per_quarter: 1}}"))
    assert values(start)[:2] == pytest.approx([expected, 2 * expected], rel=1e-12)


def test_bounds_of_a_rate_have_units_too(tmp_path: Path) -> None:
    series = "{value: 60 tokens/min, low: 0.5, high: 7200 tokens/h, note: mail, source: log}"
    [found] = chat(asked(tmp_path, with_series(series)))
    assert (found.value, *found.bounds) == (1.0, 0.5, 2.0)
    assert (found.note, found.source) == ("mail; 60 tokens/min", "log")


@pytest.mark.parametrize(
    "text", ["2e9 tokens/fortnight", "2e9 requests/s", "2e9", "many tokens/s", "2e9 tokens"]
)
@pytest.mark.parametrize(
    "form", ["'{}'", "[1, 2, 3, '{}']", "{{start: '{}', growth_frac_per_quarter: 0}}"]
)
def test_a_text_without_a_known_unit_is_refused(tmp_path: Path, text: str, form: str) -> None:
    [problem] = refused(tmp_path, with_series(form.format(text)))
    assert problem.code == "DC004"
    assert "tokens/s, tokens/min, tokens/h, tokens/day, tokens/week, tokens/month" in problem.cause
    assert repr(text) in problem.cause
    assert "s.yaml:" in str(problem.place)


def test_a_field_of_another_type_has_no_units(tmp_path: Path) -> None:
    [problem] = refused(tmp_path, with_utility("2e9 tokens/day"))
    assert problem.code == "DC004"
    assert "expected a number" in problem.cause


def test_requests_have_their_own_units() -> None:
    found = TypeAdapter(RequestRates).validate_python(["90 requests/min", 2])
    assert [q.value for q in found] == [1.5, 2.0]
    with pytest.raises(ValidationError, match="requests/s, requests/min"):
        TypeAdapter(RequestRates).validate_python("5 tokens/s")


# Properties

QUARTERS = st.integers(-40, 40)


@given(st.floats(0, 1e12), st.integers(1, 20), QUARTERS)
def test_growth_of_0_is_the_constant(start: float, quarters: int, n: int) -> None:
    growth = {"start": start, "growth_frac_per_quarter": 0, "shift_quarters": n}
    assert grown(growth, quarters) == [start] * quarters


@given(st.floats(1e-3, 1e9), st.sampled_from(sorted(PERIODS_S)))
def test_a_rate_is_its_amount_over_the_period(amount: float, period: str) -> None:
    found = per_second(f"{amount!r} tokens/{period}", "tokens")
    assert found * PERIODS_S[period] == pytest.approx(amount, rel=1e-12)


# Files and commands


def test_the_json_schema_describes_growth_and_units() -> None:
    parts = schema("scenario")["$defs"]
    utility_forms = parts["Site"]["properties"]["utility_mw"]["anyOf"]
    growth = next(x for x in utility_forms if x.get("type") == "object")
    assert set(growth["properties"]) == {
        "start",
        "growth_frac_per_quarter",
        "from",
        "shift_quarters",
    }
    assert growth["required"] == ["start", "growth_frac_per_quarter"]
    rates = json.dumps(parts["Inference"]["properties"]["tokens_per_s"])
    assert "tokens\\\\s*/\\\\s*(s|min|h|day|week|month|year)" in rates
    assert Scenario.model_json_schema()


def test_check_reads_a_growing_scenario(tmp_path: Path) -> None:
    """2e9 / 86,400 = 23,148 tokens/s; * 1.15 = 26,620. Hardware arrives in the second quarter."""
    own = CHAT.replace("2e5", "2e9 tokens/day").replace("0.15}", "0.15, from: 2027-Q2}")
    file = written(tmp_path, GOOD.partition("  training:")[0] + own)
    command = [sys.executable, "-m", "dcplan", "check", str(file), "-f", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = {row["key"]: row for row in json.loads(done.stdout)["inputs"]}
    assert rows[f"{KEY}[2]"]["value"] == pytest.approx(26_620, abs=1)
    assert [rows[f"{KEY}[{i}]"]["status"] for i in range(4)] == ["derived"] * 4
    growing = "23,148.1 growing 15% a quarter from 2027-Q2"
    assert rows[f"{KEY}[1]"]["note"] == f"2e9 tokens/day; {growing}"

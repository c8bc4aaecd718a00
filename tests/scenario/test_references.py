"""dcplan/scenario/references.py: one wrong reference or contradiction at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenario.samples import GOOD, asked, refused, spot


def test_the_sample_is_good(tmp_path: Path) -> None:
    assert asked(tmp_path).scenario.name == "base"


JOB = "precision: [bf16]"
RATE = "discount_rate: 0.1"
FLEET = "fleet: {system: dgx-h200, hall: air, accelerators: "


@pytest.mark.parametrize(
    ("old", "new", "code", "place"),
    [  # GOOD has 16 lines, an added one is line 17
        ("us-ashburn", "us-ashbrun", "DC010", "s.yaml:7:15"),
        ("utility_mw: 14", "utility_mw: [1, 2, 3]", "DC012", "s.yaml:8:17"),
        (
            "utility_mw: 14",
            "utility_mw: 14\n    energy: {usd_per_kwh: [1, 2]}",
            "DC012",
            "s.yaml:9:27",
        ),
        ("[air-chiller]", "[air-chiler]", "DC010", "s.yaml:11:67"),
        (
            "utility_mw: 14",
            "utility_mw: 14\n    onsite: [{id: solar-pv, max_mw: 20}]",
            "DC003",
            "s.yaml:9:14",
        ),
        (
            "utility_mw: 14",
            "utility_mw: 14\n    onsite: [{id: solar-pv, max_mw: 20, profile: x.csv, spare_units: 1}]",
            "DC015",
            "s.yaml:9:70",
        ),
        (
            "utility_mw: 14",
            "utility_mw: 14\n    onsite: [{id: reciprocating-engine-gas, max_mw: 20, profile: x.csv}]",
            "DC015",
            "s.yaml:9:66",
        ),
        ("id: air", "id: liquid", "DC011", "s.yaml:11:14"),
        (RATE, f"{RATE}, tax: {{depreciation: macrs-5}}", "DC003", "s.yaml:4:51"),
        (RATE, f"{RATE}, payment: {{deposit_months_before: 6}}", "DC004", "s.yaml:4:40"),
        (RATE, f"{RATE}, payment: {{acceptance_months_after: 2}}", "DC004", "s.yaml:4:40"),
        (RATE, f"{RATE}, residual: 1.5", "DC004", "s.yaml:4:41"),
        (
            "systems",
            "fx: {EUR: 0}\nprices: {dgx-h200: {price_usd: {value: 1e5, currency: EUR}}}\nsystems",
            "DC004",
            "s.yaml:12:11",
        ),
        ("dgx-h200,", "dgx-h20,", "DC010", "s.yaml:12:11"),
        ("[ib-ndr-400]", "[ib-ndr]", "DC010", "s.yaml:13:11"),
        ("llama-3.1-70b", "llama-70", "DC010", "s.yaml:16:24"),
        (JOB, JOB + ", start: 2026-Q4", "DC015", ""),
        (JOB, JOB + ", deadline: 2028-Q1", "DC015", ""),
        (JOB, JOB + ", start: 2027-Q3, deadline: 2027-Q2", "DC015", ""),
        (JOB, JOB + ", sites: [dallas]", "DC010", ""),
        ("workloads", "fabric: {id: nope}\nworkloads", "DC010", "s.yaml:14:14"),
        ("workloads", "supply: [{system: nope}]\nworkloads", "DC010", "s.yaml:14:19"),
        ("workloads", FLEET + "1001}\nworkloads", "DC015", "s.yaml:14:52"),
        (
            "workloads",
            "fleet: {system: dgx-h200, accelerators: 8}\nworkloads",
            "DC003",
            "s.yaml:14:8",
        ),
        (
            "workloads",
            "fleet: {system: dgx-h200, hall: air, site: x, accelerators: 8}\nworkloads",
            "DC010",
            "",
        ),
        ("workloads", "cloud: {offers: [nope]}\nworkloads", "DC010", "s.yaml:14:18"),
        (
            "workloads",
            "expect: [{id: a, metric: m, max: 1}, {id: a, metric: m, max: 1}]\nworkloads",
            "DC011",
            "",
        ),
        ("workloads", "finance: {budget_usd: [1, 2]}\nworkloads", "DC005", ""),
    ],
)
def test_one_wrong_thing_is_one_problem(
    tmp_path: Path, old: str, new: str, code: str, place: str
) -> None:
    assert old in GOOD
    [problem] = refused(tmp_path, GOOD.replace(old, new, 1))
    assert problem.code == code
    assert problem.place is not None
    assert problem.place.line > 1
    assert not place or spot(tmp_path, problem.place) == place


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (JOB, JOB + ", start: 2027-Q1, deadline: 2027-Q4"),
        (RATE, f"{RATE}, tax: {{depreciation: macrs-5, income_rate: 0}}"),
        (JOB, JOB + ", start: 2027-Q2, deadline: 2027-Q2"),
        ("utility_mw: 14", "utility_mw: [14, 15, 16, 17]"),
        ("workloads", FLEET + "1000}\nworkloads"),
        ("workloads", "cloud: {offers: all}\nworkloads"),
    ],
)
def test_the_borders_are_allowed(tmp_path: Path, old: str, new: str) -> None:
    assert asked(tmp_path, GOOD.replace(old, new, 1)).scenario.name == "base"


@pytest.mark.parametrize("field", ["sites", "countries"])
@pytest.mark.parametrize("kind", ["training", "capacity"])
def test_a_list_that_restricts_places_is_not_empty(tmp_path: Path, kind: str, field: str) -> None:
    own = f"{JOB}, {field}: []"
    text = GOOD.replace(JOB, own, 1)
    if kind == "capacity":
        entry = f"{{id: lab, accelerator_hours: 1, utilization_frac: 0.5, {field}: []}}"
        text = f"{GOOD}  capacity:\n    - {entry}\n"
    [problem] = refused(tmp_path, text)
    assert problem.code == "DC004"
    assert problem.cause == f"workloads.{kind}.0.{field}: expected at least 1 entry, got 0"
    assert problem.place is not None
    assert text.splitlines()[problem.place.line - 1][problem.place.column - 1 :].startswith("[]")


def test_an_empty_list_of_systems_that_serve_a_demand_is_refused(tmp_path: Path) -> None:
    entry = "{id: lab, accelerator_hours: 1, utilization_frac: 0.5, systems: []}"
    [problem] = refused(tmp_path, f"{GOOD}  capacity:\n    - {entry}\n")
    assert problem.cause == "workloads.capacity.0.systems: expected at least 1 entry, got 0"


def test_an_empty_list_that_means_none_is_allowed(tmp_path: Path) -> None:
    found = asked(tmp_path, sets=["supply=[]", "fabrics=[]", "workloads.capacity=[]"]).scenario
    assert (found.supply, found.fabrics, found.workloads.capacity) == ((), (), ())

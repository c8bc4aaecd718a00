"""dcplan/scenario/load.py: examples, errors, extends, overrides."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dcplan.errors import InputError
from dcplan.scenario.load import find_file, load
from tests.scenario.samples import GOOD, asked, refused, spot, written

EXAMPLES = (
    "campus-300-mw",
    "fleet-renewal",
    "meta-24k-h100",
    "own-or-rent-1024-h200",
    "retrofit-air-hall",
    "services-two-sites",
    "starter",
    "three-site-build-out",
    "train-405b-in-90-days",
)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_shipped_scenarios_load_by_file_and_by_name(name: str, repo: Path) -> None:
    by_file = load(str(repo / "scenarios" / f"{name}.yaml"))
    assert by_file.scenario.name == name
    assert load(name).digest == by_file.digest
    for variant in by_file.scenario.scenarios:
        assert load(name, variant=variant).variant == variant


def test_the_case_studies_load_by_file_and_by_name(repo: Path) -> None:
    """``docs/validation/cases.md`` plans them; a name may have a folder, but never lead out of the
    examples."""
    cases = sorted((repo / "scenarios" / "cases").glob("*.yaml"))
    assert len(cases) > 15
    for file in cases:
        assert load(f"cases/{file.stem}").digest == load(str(file)).digest
    with pytest.raises(InputError, match="DC006"):
        find_file("../catalogs/sites/us")


def test_no_shipped_scenario_is_forgotten(repo: Path) -> None:
    assert {file.stem for file in (repo / "scenarios").glob("*.yaml")} == set(EXAMPLES)


def test_a_merge_key_of_yaml_has_a_hint(tmp_path: Path) -> None:
    air = "{id: air, racks: 20, rack_kw_max: 40, it_mw: 1, cooling: [air-chiller]}"
    found = refused(
        tmp_path, GOOD.replace(f"- {air}", f"- &air {air}\n      - {{<<: *air, id: more}}")
    )
    (unknown,) = [x for x in found if x.code == "DC002"]
    assert "sites.0.halls.2.<<: unknown field" in unknown.cause
    assert "write the fields" in unknown.hint


def test_an_unknown_name_gets_a_suggestion() -> None:
    with pytest.raises(InputError) as caught:
        find_file("retrofit-air-hal")
    [problem] = caught.value.problems
    assert (problem.code, problem.hint) == ("DC006", 'did you mean "retrofit-air-hall"?')


FORM = """dcplan: 1
name: wrong form
horizon: {start: 2027-1, quarters: four}
finance: {discount_rate: 8}
sites:
  - id: ashburn
    location: us-ashburn
    utilty_mw: 14
    halls:
      - {id: liquid, racks: many, rack_kw_max: 250, it_mw: 11, cooling: [direct-liquid-tower]}
      - {id: good, racks: 96, rack_kw_max: 250, it_mw: 11, cooling: [direct-liquid-tower]}
  - id: good
    location: us-ashburn
    utility_mw: 14
    halls: [{id: a, racks: 96, rack_kw_max: 250, it_mw: 11, cooling: [direct-liquid-tower]}]
workloads:
  training:
    - {id: flagship, model: llama-3.1-405b, tokens: 15.6e12, seq_len: 8192, precision: [bf16, fp9]}
objective: min_costs
expect:
  - {id: on-time, metric: train.flagship.days}
"""

REFERENCES = """dcplan: 1
name: wrong-references
horizon: {start: 2027-Q1, quarters: 4}
finance: {budget_usd: [1e6, 2e6, 3e6]}
sites:
  - id: ashburn
    location: us-ashbrun
    utility_mw: [14, 15]
    halls:
      - {id: liquid, racks: 96, rack_kw_max: 250, it_mw: 11, cooling: [direct-liquid-towr]}
      - {id: liquid, racks: 96, rack_kw_max: 250, it_mw: 11, cooling: [direct-liquid-tower]}
systems: [dgx-h200, dgx-h20]
fabrics: [ib-ndr-4000]
prices:
  dgx-h2000: {price_usd: 1}
supply:
  - {system: gb20-nvl72, racks_per_quarter: [1, 2]}
workloads:
  training:
    - id: job
      model: llama-3.1-40b
      tokens: 1e12
      seq_len: 8192
      global_batch_tokens: 8e6
      precision: [bf16]
      start: 2027-Q4
      deadline: 2027-Q2
      sites: [ashburn, ashbrn]
    - {id: job, model: llama-3.1-70b, tokens: 1e12, seq_len: 8192, global_batch_tokens: 8e6, precision: [bf16],
       start: 2029-Q1}
cloud:
  offers: [aws-p5en-48xlarg]
"""


@pytest.mark.parametrize(("name", "text"), [("form", FORM), ("references", REFERENCES)])
def test_every_error_of_a_wrong_file_is_shown_with_its_place(
    name: str,
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    golden: Callable[[str, str], None],
) -> None:
    written(tmp_path, text, "wrong.yaml")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as caught:
        load("wrong.yaml")
    golden(f"scenario_wrong_{name}.txt", f"{caught.value}\n")


def test_wrong_fields_and_wrong_references_come_at_once(tmp_path: Path) -> None:
    text = (
        GOOD.replace("name: base", "nam: base")
        .replace("dgx-h200,", "dgx-h20,")
        .replace("14", "[14, 15]")
    )
    text += "expect: [{id: a, metric: cost.npv_us, max: 1}]\n"
    assert {p.code for p in refused(tmp_path, text)} >= {"DC002", "DC003", "DC010", "DC012"}


def test_an_item_with_an_error_does_not_make_its_list_look_empty(tmp_path: Path) -> None:
    text = GOOD.replace("racks: 96", "racks: many").replace("racks: 20", "racks: few")
    assert [p.cause for p in refused(tmp_path, text)] == [
        "sites.0.halls.0.racks: expected an integer, got 'many'",
        "sites.0.halls.1.racks: expected an integer, got 'few'",
    ]


@pytest.mark.parametrize("line", ["systems: 5", "objective: []", "finance: {residual: middle}"])
def test_a_choice_is_one_error_at_a_plain_path(tmp_path: Path, line: str) -> None:
    key = line.split(":", maxsplit=1)[0]
    kept = "".join(old for old in GOOD.splitlines(keepends=True) if not old.startswith(key))
    [problem] = refused(tmp_path, kept + line + "\n")
    assert "literal[" not in problem.cause
    assert "tuple[" not in problem.cause
    assert "{{" not in problem.cause


@pytest.mark.parametrize("value", ["true", '"96"'])
def test_a_count_is_a_number_and_nothing_else(tmp_path: Path, value: str) -> None:
    [problem] = refused(tmp_path, GOOD.replace("racks: 96", f"racks: {value}"))
    assert problem.code == "DC004"


def test_a_field_with_another_name_in_python_is_suggested_by_its_yaml_name(tmp_path: Path) -> None:
    [problem] = refused(tmp_path, GOOD + "supply: [{system: dgx-h200, form: 2027-Q3}]\n")
    assert problem.hint == 'did you mean "from"?'


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("model: llama-3.1-70b", "model: absent.json", "DC010"),
        ("precision: [bf16]", "precision: [bf16], stack: megatron-cor", "DC010"),
        ("{discount_rate: 0.1}", "{tax: {income_rate: 0.2, depreciation: macrs-55}}", "DC010"),
    ],
)
def test_every_named_thing_must_exist(tmp_path: Path, old: str, new: str, code: str) -> None:
    from dcplan.answers.check.answer import check

    file = written(tmp_path, GOOD.replace(old, new))
    with pytest.raises(InputError) as caught:
        check(file)
    assert [p.code for p in caught.value.problems] == [code]


def test_a_model_file_must_stay_inside_the_project(tmp_path: Path) -> None:
    from dcplan.answers.check.answer import check

    written(tmp_path, "{}", "outside.json")
    file = written(tmp_path / "p", GOOD.replace("llama-3.1-70b", "../outside.json"))
    with pytest.raises(InputError) as caught:
        check(file)
    assert [p.code for p in caught.value.problems] == ["DC008"]


def test_a_catalog_folder_of_the_scenario_must_stay_inside(tmp_path: Path) -> None:
    [problem] = refused(tmp_path / "p", GOOD + "catalogs: [../other]\n")
    assert problem.code == "DC008"


def test_the_digest_follows_the_content_only(tmp_path: Path) -> None:
    same = asked(tmp_path / "a").digest
    assert asked(tmp_path / "b", "# comment\n" + GOOD).digest == same
    assert asked(tmp_path / "c", GOOD.replace("14", "15")).digest != same


def test_values_know_their_line(tmp_path: Path) -> None:
    question = asked(tmp_path)
    [utility] = question.scenario.sites[0].utility_mw
    assert spot(tmp_path, utility.at) == "s.yaml:8:17"
    assert spot(tmp_path, question.scenario.sites[0].halls[1].it_mw.at) == "s.yaml:11:54"
    assert spot(tmp_path, question.at("horizon", "start")) == "s.yaml:3:18"

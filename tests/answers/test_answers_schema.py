"""What dcplan publishes as JSON Schema is what it reads and writes."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import dcplan
from dcplan.answers.reference.catalog import catalog_check, catalog_list, catalog_show
from dcplan.answers.reference.doctor import doctor
from dcplan.answers.reference.schema import schema
from dcplan.catalog.yaml12 import parse, read_text
from dcplan.result import Metric, Result, Table
from tests.plans import planned

ROOT = Path(__file__).resolve().parents[2]
TRAIN = {"system": "dgx-h100", "accelerators": 1024, "tokens": 1e12}


def errors(what: str, document: Any) -> list[str]:
    validator = jsonschema.Draft202012Validator(schema(what))
    return [f"{list(e.absolute_path)}: {e.message[:120]}" for e in validator.iter_errors(document)]


def answers() -> dict[str, Result]:
    return {
        "plan": planned("train-405b-in-90-days"),
        "given": planned("meta-24k-h100"),
        "infeasible": planned("train-405b-in-90-days", sets=["finance.budget_usd=1000"]),
        "check": dcplan.check("train-405b-in-90-days"),
        "train": dcplan.train("llama-3.1-70b", **TRAIN),
        "does not fit": dcplan.train(
            "llama-3.1-405b", system="dgx-a100", accelerators=8, tokens=1e9
        ),
        "job menu": dcplan.train("train-405b-in-90-days"),
        "catalog list": catalog_list(None),
        "catalog show": catalog_show("dgx-h100", None),
        "catalog check": catalog_check(),
        "doctor": doctor(),
    }


@pytest.mark.parametrize("what", ["scenario", "catalog", "result"])
def test_schemas_are_schemas(what: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(what))


def test_an_unknown_schema_is_refused() -> None:
    with pytest.raises(ValueError, match="scenario, catalog, result"):
        schema("receipt")


def test_every_answer_is_a_result_without_nan() -> None:
    def refuse(name: str) -> None:
        pytest.fail(f"{name} is not JSON")

    for name, result in answers().items():
        document = json.loads(result.to_json(), parse_constant=refuse)
        assert errors("result", document) == [], name


def test_numbers_that_are_not_finite_become_null() -> None:
    result = Result(
        "plan",
        "ok",
        0,
        "x",
        solver={"gap_frac": math.inf},
        metrics={"a": Metric(math.nan, low=-math.inf)},
        tables={"t": Table(("x",), ((math.nan,),))},
        run={},
    )
    document = json.loads(result.to_json())
    assert document["solver"]["gap_frac"] is None
    assert (document["metrics"]["a"]["value"], document["metrics"]["a"]["low"]) == (None, None)
    assert document["tables"]["t"]["rows"] == [[None]]


def test_a_broken_result_is_no_result() -> None:
    document = dcplan.check("train-405b-in-90-days").as_dict()
    del document["metrics"]
    assert errors("result", document) == ["[]: 'metrics' is a required property"]
    assert errors("result", {**document, "metrics": {}, "exit_code": 5})


@pytest.mark.parametrize("file", sorted((ROOT / "scenarios").glob("*.yaml")), ids=lambda f: f.stem)
def test_shipped_scenarios_meet_the_scenario_schema(file: Path) -> None:
    assert errors("scenario", parse(read_text(file), str(file)).data) == []


@pytest.mark.parametrize("change", [{"name": 7}, {"unknown_field": 1}, {"sites": [{"id": "x"}]}])
def test_the_scenario_schema_refuses_what_the_loader_refuses(change: dict[str, Any]) -> None:
    file = ROOT / "scenarios" / "train-405b-in-90-days.yaml"
    assert errors("scenario", {**parse(read_text(file), str(file)).data, **change})


def test_catalog_files_meet_the_catalog_schema() -> None:
    files = sorted((ROOT / "catalogs").rglob("*.yaml"))
    assert len(files) > 20
    found = {f.name: errors("catalog", parse(read_text(f), str(f)).data)[:2] for f in files}
    assert {name: e for name, e in found.items() if e} == {}


def test_the_catalog_schema_refuses_a_row_without_a_source() -> None:
    file = ROOT / "catalogs" / "systems" / "nvidia.yaml"
    data = parse(read_text(file), str(file)).data
    del data["systems"][0]["source"]
    assert any("'source' is a required property" in e for e in errors("catalog", data))


@pytest.mark.parametrize(
    "change",
    [
        {"extends": "a.yaml", "name": "b"},
        {"extends": "a.yaml", "sites": [{"id": "ashburn", "utility_mw": 20}]},
        {"extends": "a.yaml", "finance": {"budget_usd": "60e6"}},
    ],
)
def test_a_file_with_extends_gives_only_what_changes(change: dict[str, Any]) -> None:
    assert errors("scenario", {"dcplan": 1, **change}) == []
    assert errors("scenario", {**change, "sitse": []}) != []
    del change["extends"]
    assert errors("scenario", {"dcplan": 1, **change}) != []  # a whole file needs its fields


@pytest.mark.parametrize("text", ["60e6", "1.5e+3", "-2E-4", "7.e3"])
def test_numbers_with_exponents_that_yaml_11_reads_as_texts_are_numbers(text: str) -> None:
    """PyYAML reads 60e6 as a text, because YAML 1.1 asks for a dot and a sign (tag float)."""
    file = ROOT / "scenarios" / "train-405b-in-90-days.yaml"
    data = parse(read_text(file), str(file)).data
    assert errors("scenario", {**data, "finance": {"budget_usd": text}}) == []
    assert errors("scenario", {**data, "finance": {"budget_usd": "sixty"}}) != []

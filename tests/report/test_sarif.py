"""SARIF: every finding has a rule, a level and a line, as SARIF 2.1.0 asks (sections 3.27 to 3.30)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dcplan.errors import CODES, Place, Problem
from dcplan.report.sarif import RULES, sarif, sarif_of_problems
from dcplan.result import Result, Table
from tests.cli.conftest import TINY, spawn


def run_of(text: str) -> dict[str, Any]:
    log = json.loads(text)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(rules) == len(set(rules))
    for found in run["results"]:
        assert rules[found["ruleIndex"]] == found["ruleId"]
        assert found["level"] in ("error", "warning", "note")
        (at,) = found["locations"]
        region = at["physicalLocation"]["region"]
        assert region["startLine"] >= 1
        assert region["startColumn"] >= 1
        assert " " not in at["physicalLocation"]["artifactLocation"]["uri"]
    return dict(run)


def test_every_error_code_is_a_rule() -> None:
    assert set(CODES) < set(RULES)


def test_problems_have_their_place_and_next_step() -> None:
    problems = [
        Problem(
            "DC002", "unknown field", Place("a b.yaml", 3, 5), 'did you mean "mw"?', "dcplan x"
        ),
        Problem("DC006", "no such file", None),
    ]
    first, second = run_of(sarif_of_problems(problems))["results"]
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "a%20b.yaml"
    assert place["region"] == {"startLine": 3, "startColumn": 5}
    assert first["message"]["text"] == 'unknown field; did you mean "mw"?; dcplan x'
    assert second["ruleId"] == "DC006"


def test_failed_expectations_and_missing_plans_are_findings() -> None:
    row = {"metric": "m", "observed": 2.0, "limit": "<= 1", "max": 1.0, "note": "", "owner": "ops"}
    expectations = [
        {**row, "id": "a", "passed": False, "severity": "error", "at": "x.yaml:7:5"},
        {**row, "id": "b", "passed": False, "severity": "warn", "at": "x.yaml:8:5"},
        {**row, "id": "c", "passed": True, "severity": "error", "at": "x.yaml:9:5"},
        {**row, "id": "d", "passed": None, "severity": "error", "at": "x.yaml:9:5"},
    ]
    plans = Table(
        ("scenario", "variant", "status", "was", "answer"),
        (("x.yaml", "", "ok", "solved", "fine"), ("y.yaml", "", "infeasible", "solved", "none")),
    )
    result = Result("test", "x", 1, "", tables={"plans": plans}, expectations=expectations)
    found = run_of(sarif(result))["results"]
    assert [(x["ruleId"], x["level"]) for x in found] == [
        ("expectation", "error"),
        ("expectation", "warning"),
        ("no-plan", "error"),
    ]
    assert found[0]["message"]["text"].startswith("a: m = 2, expected <= 1 (owner: ops)")
    assert found[0]["locations"][0]["physicalLocation"]["region"]["startLine"] == 7


@pytest.mark.parametrize("to_file", [False, True])
def test_check_writes_the_errors_of_a_scenario(tmp_path: Path, *, to_file: bool) -> None:
    (tmp_path / "a.yaml").write_text(TINY.replace("utility_mw", "utility_mv"), encoding="utf-8")
    out = ("-o", "found.sarif") if to_file else ()
    ran = spawn("check", "a.yaml", "--format", "sarif", *out, cwd=tmp_path)
    assert ran.code == 2
    text = (tmp_path / "found.sarif").read_text(encoding="utf-8") if to_file else ran.out
    found = run_of(text)["results"]
    assert {x["ruleId"] for x in found} >= {"DC002"}
    uris = {x["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for x in found}
    assert uris == {"a.yaml"}


def test_check_without_findings_writes_an_empty_log(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(TINY, encoding="utf-8")
    ran = spawn("check", "a.yaml", "--format", "sarif", cwd=tmp_path)
    assert ran.code == 0
    assert run_of(ran.out)["results"] == []

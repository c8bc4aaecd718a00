"""Annotations and reports of gates: nothing in a scenario forges them."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

import pytest

from dcplan.errors import InputError
from dcplan.report.ci import github, junit, problem_notes
from dcplan.report.text.markdown import markdown
from dcplan.result import Result
from dcplan.study.checks import check_all

HOSTILE = [
    {
        "id": "x,y::error",
        "metric": "m",
        "severity": "error",
        "owner": "o",
        "note": "50 %\n::error::forged <b>\x1b[31m",
        "observed": 1.0,
        "limit": "<= 0",
        "passed": False,
        "reason": "",
        "scenario": "a\n::set-output",
        "variant": "",
        "at": "dir,with:comma.yaml:3:5",
    }
]


def test_nothing_in_a_scenario_forges_an_annotation_or_breaks_xml() -> None:
    result = Result("test", "expectation_failed", 1, "h\n::warning::x", expectations=HOSTILE)
    lines = github(result).splitlines()
    assert [line for line in lines if line.startswith("::")] == [lines[0]]
    assert lines[0].startswith(
        "::error file=dir%2Cwith%3Acomma.yaml,line=3,col=5,title=dcplan (x%2Cy%3A%3Aerror)::m = 1"
    )
    root = Xml.fromstring(junit(result))  # noqa: S314 - our own text
    assert root.find(".//failure") is not None
    assert "\x1b" not in junit(result)
    assert "<b>" not in markdown(result)


def test_many_annotations_are_cut_and_counted() -> None:
    many = [{**HOSTILE[0], "id": f"e{i}"} for i in range(14)]
    text = github(Result("test", "expectation_failed", 1, "h", expectations=many))
    assert text.count("::error ") == 10
    assert "… and 4 more" in text


def test_problems_as_annotations() -> None:
    with pytest.raises(InputError) as error:
        check_all(["nowhere.yaml", "neither.yaml"])
    text = problem_notes(error.value.problems)
    assert text.count("::error title=dcplan (DC006)::no such scenario file") == 2

"""Every column of every table has a meaning; no meaning is of a column that no code makes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dcplan
from dcplan.answers.check.answer import check
from dcplan.answers.explain.answer import explain
from dcplan.answers.fabric.answer import fabric
from dcplan.answers.facility.answer import facility
from dcplan.answers.reference.columns import columns, meaning
from dcplan.answers.reference.names import documented, value_of
from dcplan.answers.tco.answer import tco
from dcplan.answers.train.answer import train
from dcplan.answers.validation.answer import validate as published
from dcplan.result import Result
from dcplan.scenario.ref import ScenarioRef
from dcplan.specs.headers import HEADERS, from_words
from tests.plans import planned

ROOT = Path(dcplan.__file__).parent
SUPERPOD: dict[str, Any] = {"nodes": 127, "system": "dgx-h100", "fabric": "ib-ndr-400"}


def _words(file: Path) -> Iterator[str]:
    """Texts, field names and put-together texts of a file, as patterns."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield re.escape(node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield re.escape(node.target.id)
        elif isinstance(node, ast.JoinedStr):
            text = [
                re.escape(str(v.value)) if isinstance(v, ast.Constant) else r"\w+"
                for v in node.values
            ]
            if any(len(part) > 3 for part in text):
                yield "".join(text)


def _made() -> Iterator[tuple[str, str]]:
    """File and column of each ``Table((…), …)`` whose columns are written out."""
    for file in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Table" and node.args:
                first = node.args[0]
                if isinstance(first, ast.Tuple):
                    yield from (
                        (file.name, e.value) for e in first.elts if isinstance(e, ast.Constant)
                    )


def test_every_column_in_the_code_is_documented_under_some_table() -> None:
    known = {c.column for c in columns()}
    found = list(_made())
    assert found
    assert sorted({pair for pair in found if pair[1] not in known}) == []


def test_no_column_is_documented_that_the_code_does_not_name() -> None:
    words = re.compile(
        "|".join(
            {w for file in ROOT.rglob("*.py") for w in _words(file) if re.fullmatch(r"[\w\\+]+", w)}
        )
    )
    assert (
        sorted(
            {c.column for c in columns() if "<" not in c.column and not words.fullmatch(c.column)}
        )
        == []
    )


@pytest.mark.parametrize(
    "ask",
    [
        pytest.param(
            lambda: explain("train-405b-in-90-days", why_not=["gb300-nvl72"]), id="explain"
        ),
        pytest.param(lambda: planned("fleet-renewal", gap=0.02), id="plan"),
        pytest.param(
            lambda: fabric(**SUPERPOD, growth_nodes=[256], site_link_km=20.0), id="fabric"
        ),
        pytest.param(
            lambda: facility(
                site="us-ashburn", cooling="direct-liquid-tower", system="gb300-nvl72", it_mw=20
            ),
            id="facility",
        ),
        pytest.param(lambda: tco("own-or-rent-1024-h200"), id="tco"),
        pytest.param(
            lambda: train(
                "llama-3.1-70b", system="dgx-h100", accelerators=512, tokens=1e12, deadline_days=90
            ),
            id="train",
        ),
        pytest.param(lambda: published("fabric"), id="published"),
        pytest.param(dcplan.validate, id="validate"),
        pytest.param(lambda: check("retrofit-air-hall"), id="check"),
        pytest.param(lambda: documented("it_mw"), id="name"),
        pytest.param(lambda: value_of(ScenarioRef("starter"), "finance.discount_rate"), id="value"),
    ],
)
def test_every_column_of_an_answer_has_a_meaning(ask: Any) -> None:
    result: Result = ask()
    assert [
        (name, column)
        for name, table in result.tables.items()
        for column in table.columns
        if not meaning(name, column)
    ] == []


def test_a_column_is_explained_by_name() -> None:
    found = documented("decision")
    assert found.headline.startswith("decision (table decisions): ")
    assert found.tables["columns"].records()[0]["column"] == "decision"


def test_a_column_is_explained_with_its_table() -> None:
    (found,) = documented("jobs.idle_accelerators").tables["columns"].records()
    assert (found["table"], found["column"]) == ("jobs", "idle_accelerators")
    # racks.<system> is a metric too: the table's own column comes first
    assert documented("racks.decision").headline.startswith("decision (table racks): ")
    (common,) = documented("jobs.system").tables["columns"].records()
    assert common["table"] == "any"


def test_no_header_is_listed_that_follows_from_the_words_of_the_name() -> None:
    assert [name for name, text in HEADERS.items() if from_words(name) == text] == []

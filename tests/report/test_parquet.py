"""Parquet: what is written is what is read back, with units and descriptions."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pandas as pd
import pytest

import dcplan
from dcplan.errors import InputError
from dcplan.report.exports import targets_of
from dcplan.report.parquet import write_parquet
from dcplan.result import Metric, Result, Table

RACKS = Table(
    ("hall", "racks", "rated_kw", "given", "cost.npv_usd", "mixed", "empty_usd"),
    (("s/a", 9, 1080.5, True, 1e6, 1, None), ("s/b", 0, None, False, None, "x", None)),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A plan of one table of orders, as a folder of Parquet files."""
    pytest.importorskip("pyarrow")
    result = Result(
        *("plan", "ok", 0, "buy 9 racks"),
        scenario={"name": "s"},
        metrics={"cost.npv_usd": Metric(1e6, "USD", "Net present cost")},
        tables={"racks": RACKS},
        inputs=[{"key": "k", "value": [1, 2], "unit": "kW", "source": "here"}],
    )
    assert write_parquet(result, tmp_path / "out.parquet") == 3
    return tmp_path / "out.parquet"


def test_every_table_is_read_back(folder: Path) -> None:
    assert {p.name for p in folder.iterdir()} == {
        "racks.parquet",
        "metrics.parquet",
        "inputs.parquet",
    }
    frame = pd.read_parquet(folder / "racks.parquet")
    assert list(frame.columns) == list(RACKS.columns)
    assert list(frame["racks"]) == [9.0, 0.0]
    assert frame["rated_kw"].isna().tolist() == [False, True]
    assert list(frame["given"]) == [True, False]
    assert list(frame["mixed"]) == ["1", "x"]  # numbers and text: text
    assert str(frame["empty_usd"].dtype) == "float64"  # a column without a value keeps its type
    assert list(pd.read_parquet(folder / "inputs.parquet")["value"]) == ["[1, 2]"]
    assert list(pd.read_parquet(folder / "metrics.parquet")["value"]) == [1e6]


def test_the_schema_has_units_descriptions_and_the_answer(folder: Path) -> None:
    parquet = importlib.import_module("pyarrow.parquet")
    schema = parquet.read_schema(folder / "racks.parquet")
    assert schema.field("rated_kw").metadata[b"unit"] == b"kW"
    assert b"power" in schema.field("rated_kw").metadata[b"description"].lower()
    # a column that comes with the data is described as the metric of its name
    assert schema.field("cost.npv_usd").metadata[b"unit"] == b"USD"
    assert b"cost" in schema.field("cost.npv_usd").metadata[b"description"].lower()
    assert schema.metadata[b"dcplan.headline"] == b"buy 9 racks"
    assert schema.metadata[b"dcplan.verb"] == b"plan"


def test_rows_of_the_catalog_become_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    answer = dcplan.catalog("systems")
    path = dcplan.export(answer, tmp_path / "systems.parquet")
    name = next(iter(answer.tables))
    frame = pd.read_parquet(path / f"{name}.parquet")
    assert len(frame) == len(answer.tables[name].rows) > 20


def test_a_missing_package_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(InputError) as caught:
        targets_of(("xlsx", "parquet"))
    (problem,) = caught.value.problems
    assert problem.code == "DC050"
    assert "pyarrow, which is not installed" in problem.cause
    assert "pip install 'dcplan[parquet]'" in str(problem.help)

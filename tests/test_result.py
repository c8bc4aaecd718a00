"""dcplan/result.py: the one shape of an answer, written and read back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.result import SCHEMA, AbsentError, Metric, Result, Table, from_dict


def a_result() -> Result:
    return Result(
        verb="plan",
        status="optimal",
        exit_code=0,
        headline="12 racks",
        scenario={"name": "x", "digest": "ab"},
        solver={"gap_frac": 0.004, "bound_usd": float("-inf")},
        metrics={
            "cost.npv_usd": Metric(5e6, "USD", "NPV", 4e6, 6e6),
            "train.a.finish": Metric("2027-Q3"),
            "power.annual_pue": Metric(float("nan")),
        },
        tables={
            "racks": Table(
                ("system", "racks", "power_kw", "sold"),
                (("a", 2, 10.5, True), ("b", None, float("inf"), False)),
            )
        },
        inputs=({"key": "k", "value": 1},),
        expectations=[{"id": "e", "passed": True}],
        warnings=[{"message": "ä"}],
        run={"seconds": 1.5},
    )


def test_the_document_has_the_published_fields() -> None:
    # dcplan.result/1, as `dcplan schema result` prints it
    data = json.loads(a_result().to_json())
    published = {
        "schema",
        "dcplan_version",
        "status",
        "exit_code",
        "scenario",
        "solver",
        "metrics",
        "tables",
        "inputs",
        "expectations",
        "warnings",
    }
    assert published <= set(data)
    assert data["schema"] == SCHEMA == "dcplan.result/1"
    assert set(data["metrics"]["cost.npv_usd"]) == {"value", "low", "high", "unit", "label"}
    assert set(data["tables"]["racks"]) == {"columns", "rows"}


def test_what_is_not_finite_becomes_null() -> None:
    text = a_result().to_json()
    data = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in the JSON"))
    assert data["metrics"]["power.annual_pue"]["value"] is None
    assert data["tables"]["racks"]["rows"][1] == ["b", None, None, False]
    assert data["solver"]["bound_usd"] is None


def test_json_is_sorted_readable_and_ends_with_a_newline() -> None:
    text = a_result().to_json()
    assert text.endswith("}\n")
    assert "ä" in text
    keys = list(json.loads(text))
    assert keys == sorted(keys)
    assert text == a_result().to_json()


def test_columns_carry_unit_and_type() -> None:
    columns = a_result().tables["racks"].as_dict()["columns"]
    assert columns == [
        {"name": "system", "unit": "", "type": "string"},
        {"name": "racks", "unit": "", "type": "number"},
        {"name": "power_kw", "unit": "kW", "type": "number"},
        {"name": "sold", "unit": "", "type": "string"},  # true and false are no numbers
    ]


def test_a_result_reads_back_to_the_same_text() -> None:
    text = a_result().to_json()
    assert from_dict(json.loads(text)).to_json() == text


def test_unknown_additions_are_read_over() -> None:
    data = json.loads(a_result().to_json())
    data["later"] = 1
    data["metrics"]["cost.npv_usd"]["later"] = 2
    assert from_dict(data).value("cost.npv_usd") == pytest.approx(5e6)


@pytest.mark.parametrize("schema", [None, "dcplan.result/2", "other"])
def test_another_document_is_refused(schema: str | None) -> None:
    with pytest.raises(ValueError, match=r"not a dcplan\.result/1 document"):
        from_dict({"schema": schema, "status": "x", "exit_code": 0, "metrics": {}, "tables": {}})


@pytest.mark.parametrize("key", ["no.such", "train.a.finish"])
def test_value_of_a_missing_or_textual_metric_is_refused(key: str) -> None:
    with pytest.raises(AbsentError, match=key):
        a_result().value(key)


def test_frame_has_the_columns_and_rows_of_the_table() -> None:
    frame = a_result().frame("racks")
    assert list(frame.columns) == ["system", "racks", "power_kw", "sold"]
    assert frame["power_kw"].iloc[0] == pytest.approx(10.5)
    assert len(frame) == 2


CELLS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5) | st.floats()


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS), max_size=5), st.floats())
def test_any_table_survives_writing_and_reading(rows: list, value: float) -> None:
    before = Result(
        "x", "ok", 0, "", metrics={"m": Metric(value)}, tables={"t": Table(("a", "b"), tuple(rows))}
    )
    text = before.to_json()
    after = from_dict(json.loads(text))
    assert after.to_json() == text
    assert len(after.tables["t"].rows) == len(rows)

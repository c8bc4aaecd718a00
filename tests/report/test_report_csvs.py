"""CSV: what is written is what is read back."""

from __future__ import annotations

import csv
import io

from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.report.csvs import INPUT_COLUMNS, METRIC_COLUMNS, all_csv, csv_text, table_csv
from dcplan.result import Metric, Result, Table


def read(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def test_floats_are_written_in_full_and_none_is_empty() -> None:
    text = csv_text(("a", "b", "c", "d"), [(0.1 + 0.2, None, 3, "x, y")])
    assert text == 'a,b,c,d\n0.30000000000000004,,3,"x, y"\n'


@given(
    st.lists(st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.integers()), max_size=8)
)
@settings(max_examples=50, deadline=None)
def test_numbers_survive_the_round_trip(rows: list[tuple[float, int]]) -> None:
    back = read(table_csv(Table(("x", "n"), tuple(rows))))[1:]
    assert [(float(x), int(n)) for x, n in back] == rows


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20))
@settings(max_examples=100, deadline=None)
def test_text_that_starts_no_formula_survives_the_round_trip(text: str) -> None:
    text = f"a{text}"
    assert read(csv_text(("t", "n"), [(text, 1)]))[1] == [text, "1"]


def test_a_whole_result_is_one_file_a_table() -> None:
    result = Result(
        "plan",
        "ok",
        0,
        "x",
        metrics={"days": Metric(85.5, "days", "Length", 80.0, None)},
        tables={"racks": Table(("hall", "racks"), (("h", 2),))},
        inputs=[{"key": "k", "value": 1.5, "status": "input", "extra": "not in the CSV"}],
    )
    files = {name: read(text) for name, text in all_csv(result).items()}
    assert files["racks.csv"] == [["hall", "racks"], ["h", "2"]]
    assert files["metrics.csv"] == [
        list(METRIC_COLUMNS),
        ["days", "85.5", "80.0", "", "days", "Length"],
    ]
    assert files["inputs.csv"][0] == list(INPUT_COLUMNS)
    assert dict(zip(*files["inputs.csv"], strict=True))["value"] == "1.5"
    assert set(files) == {"racks.csv", "metrics.csv", "inputs.csv"}


def test_cells_that_a_spreadsheet_would_run_are_disarmed() -> None:
    # scenario files are untrusted, and so is their text in a CSV: no cell may start a formula
    for text in ("=1+1", "+1", "-1+cmd", "@SUM(A1)", "\t=1", "\r=1"):
        cell = read(csv_text(("note",), [(text,)]))[1][0]
        assert cell[0] not in "=+-@\t\r", text
    assert read(csv_text(("x",), [(-1.5,)]))[1] == ["-1.5"]  # numbers stay numbers

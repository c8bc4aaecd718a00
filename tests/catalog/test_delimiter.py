"""Files with another delimiter than a comma: every reader names it as the cause."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dcplan.answers.imports.prices import import_prices
from dcplan.answers.imports.spend import NEEDED, import_spend
from dcplan.answers.validation.measured_serving import REQUIRED as SERVING
from dcplan.answers.validation.measured_serving import read_rows
from dcplan.answers.validation.price_cells import REQUIRED as CELLS
from dcplan.answers.validation.price_cells import read_cells
from dcplan.answers.validation.runs.measured import REQUIRED as RUNS
from dcplan.answers.validation.runs.measured import read_table
from dcplan.catalog.loader import load
from dcplan.errors import InputError
from dcplan.inputs.serving.lengths import read_lengths
from dcplan.inputs.serving.traces import read_trace

PRICES = ("provider", "instance_sku", "accelerator", "accel_count", "price_basis", "date")


def overlay(file: Path) -> object:
    return load((file.parent,))


@pytest.mark.parametrize("mark", [";", "\t", "|"])
@pytest.mark.parametrize(
    ("read", "columns"),
    [
        (import_prices, PRICES),
        (import_spend, NEEDED),
        (read_rows, SERVING),
        (read_cells, CELLS),
        (read_table, RUNS),
        (lambda file: read_lengths(str(file)), ("input_tokens", "output_tokens")),
        (read_trace, ("arrival", "input_tokens", "output_tokens")),
        (overlay, ("id", "name", "source", "cooling", "size", "zone", "pue", "peak_pue")),
    ],
)
def test_every_reader_names_the_delimiter(
    read: Callable[[Path], object], columns: tuple[str, ...], mark: str, tmp_path: Path
) -> None:
    file = tmp_path / "pue.csv"
    file.write_text(
        f"{mark.join(columns)}\n{mark.join('1,5' for _ in columns)}\n", encoding="utf-8"
    )
    with pytest.raises(InputError) as refused:
        read(file)
    [problem] = refused.value.problems
    shown = "tabs" if mark == "\t" else f"'{mark}'"
    assert problem.code == "DC006"
    assert problem.cause == f"the file uses {shown} as delimiter, dcplan reads commas"
    assert str(problem.place) == f"{file}:1:1"


def test_a_missing_column_of_a_file_with_commas_is_still_the_cause(tmp_path: Path) -> None:
    file = tmp_path / "list.csv"
    file.write_text("provider,instance_sku,a;b\n", encoding="utf-8")
    with pytest.raises(InputError) as refused:
        import_prices(file)
    assert {p.code for p in refused.value.problems} == {"DC003"}

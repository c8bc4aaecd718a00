"""`dcplan validate price-performance`: published prices of tokens and dcplan's at the same point."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from dcplan.answers.serve.answer import serve
from dcplan.answers.validation.answer import validate
from dcplan.answers.validation.price_cells import PACKAGED, read_cells, tokens_usd
from dcplan.answers.validation.request import PRICES
from dcplan.catalog.locate import data_dir
from dcplan.errors import InputError

FILE = data_dir("catalogs").joinpath(*PACKAGED)
OWN = {
    "id": "own",
    "model": "llama-3.1-70b",
    "system": "dgx-h100",
    "precision": "fp8",
    "input_tokens": "3000",
    "output_tokens": "1000",
    "tokens_per_s_per_user": "40",
    "tokens_per_s_per_accelerator": "2000",
    "usd_per_accelerator_hour": "1.8",
    "usd_per_million_tokens": "",
    "engine": "vllm",
    "accelerators": "8",
}


def written(file: Path, *rows: dict[str, str]) -> Path:
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return file


def test_a_price_is_rent_over_tokens() -> None:
    """3.60 USD an hour over 1,000 tokens/s, 3.6 M tokens an hour, is 1 USD a million."""
    assert tokens_usd(3.60, 1000.0) == pytest.approx(1.0)


def test_printed_prices_agree_with_the_publishers_throughput() -> None:
    """Prices and throughput are interpolated apart by the publisher, up to 14 % from each other."""
    cells = read_cells(FILE)
    both = [c for c in cells if "usd_per_million_tokens" in c.numbers and c.throughput_usd]
    assert (len(cells), len(both)) == (67, 57)
    for cell in both:
        assert cell.throughput_usd == pytest.approx(cell.said_usd, rel=0.14), cell.row["id"]


def test_both_models_have_five_systems() -> None:
    systems: dict[str, set[str]] = {}
    for cell in read_cells(FILE):
        systems.setdefault(cell.row["model"], set()).add(cell.row["system"])
    assert {m: len(s) for m, s in systems.items()} == {"llama-3.1-70b": 5, "deepseek-v3": 9}


def test_the_price_is_that_of_serve_over_all_tokens(tmp_path: Path) -> None:
    """Of 3,000 + 1,000 tokens a quarter is output, so a token costs a quarter of an output token.

    The publisher's price: 1.8 USD / (2,000 tokens/s x 3,600 s) = 0.25 USD a million.
    """
    result = validate(PRICES, runs=written(tmp_path / "own.csv", OWN))
    asked = serve(
        "llama-3.1-70b",
        system=("dgx-h100",),
        accelerators=8,
        isl=3000.0,
        osl=1000.0,
        tpot_ms=25.0,
        ttft_ms=1e6,
        quantile=0.5,
        engine="vllm",
        precision="fp8",
        usd_per_accelerator_hour=1.8,
    )
    (row,) = result.tables["prices"].records()
    price = asked.metrics["serve.rented_usd_per_million_tokens"]
    assert row["throughput_usd_per_million_tokens"] == pytest.approx(0.25)
    assert row["published_usd_per_million_tokens"] is None
    assert row["usd_per_million_tokens"] == pytest.approx(float(price.value) / 4.0)
    assert row["low"] < row["usd_per_million_tokens"] < row["high"]
    assert row["ratio"] == pytest.approx(row["usd_per_million_tokens"] / 0.25)
    assert row["inside"] == ("yes" if row["low"] <= 0.25 <= row["high"] else "no")
    assert result.value("cells.inside") == int(row["inside"] == "yes")


def test_a_speed_that_no_layout_reaches_counts_as_outside(tmp_path: Path) -> None:
    fast = {**OWN, "tokens_per_s_per_user": "5000"}
    result = validate(PRICES, runs=written(tmp_path / "own.csv", fast))
    (row,) = result.tables["prices"].records()
    assert (row["inside"], row["usd_per_million_tokens"]) == ("no", None)
    assert row["layout"].startswith("no answer: ")
    assert result.value("cells.answered") == 0


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"output_tokens": "0"}, "not a number above 0: output_tokens"),
        ({"usd_per_million_tokens": "cheap"}, "not a number above 0: usd_per_million_tokens"),
        (
            {"tokens_per_s_per_accelerator": ""},
            "usd_per_million_tokens or tokens_per_s_per_accelerator",
        ),
    ],
)
def test_a_row_without_its_numbers_is_refused(
    tmp_path: Path, change: dict[str, str], cause: str
) -> None:
    with pytest.raises(InputError, match=cause):
        validate(PRICES, runs=written(tmp_path / "own.csv", OWN | change))


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    less = {k: v for k, v in OWN.items() if k != "engine"}
    with pytest.raises(InputError, match="columns missing: engine"):
        validate(PRICES, runs=written(tmp_path / "own.csv", less))


def test_prices_have_no_grouping() -> None:
    with pytest.raises(InputError, match="--group-by applies to training and serving"):
        validate(PRICES, group_by="engine")


@pytest.mark.slow
def test_counts_of_the_packaged_prices_are_those_of_the_docs() -> None:
    """docs/validation/price-performance.md states these counts; they are no goal."""
    result = validate(PRICES)
    keys = ("total", "answered", "inside", "independent", "independent_inside")
    assert [result.value(f"cells.{k}") for k in keys] == [67, 67, 37, 25, 8]

"""Engines by name, releases by date and version, and the constants of a release on a family."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan.catalog.loader import Catalog, load
from dcplan.catalog.schema import Engine, EngineRelease, Parameter, ServingFamily
from dcplan.inputs.log import InputLog
from dcplan.inputs.serving.engines import (
    CAPPED,
    MOST_FRAC,
    TERMS,
    engine_of,
    engine_terms,
    ported,
    release_of,
)
from dcplan.inputs.serving.spreads import spread_of


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load()


def engine(catalog: Catalog, name: str) -> Engine:
    return catalog.get("engines", name, Engine)


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("vLLM", "vllm"),
        ("vllm (ROCm)", "vllm"),
        ("Dynamo TRTLLM", "tensorrt-llm"),
        ("vLLM 0.9; PyTorch 2.7", "vllm"),
        ("TensorRT-LLM", "tensorrt-llm"),
        ("DeepSpeed-MII", "deepspeed-fastgen"),
        # the longest name wins: "deepspeed" alone is another engine
        ("deepspeed-mii-0.3", "deepspeed-fastgen"),
        ("unheard-of", None),
        ("", None),
    ],
)
def test_engine_of_a_name(catalog: Catalog, name: str, row: str | None) -> None:
    found = engine_of(catalog, name)
    assert (found.id if found else None) == row


@pytest.mark.parametrize(
    ("version", "date", "line"),
    [
        ("", "2024-10-15", "0.6"),
        ("", "2025-12", "0.11"),
        ("", "202603", "0.17"),
        # a date before the first line
        ("", "2023-01-01", "0.3"),
        # the date has precedence over the version
        ("0.19.0", "2024-11", "0.6"),
        ("v0.16.3", "", "0.15"),
        ("0.10", "", "0.6"),
        ("0.1", "", "0.3"),
        ("nightly", "", "0.19"),
        ("", "", "0.19"),
    ],
)
def test_release_of_a_date_or_version(catalog: Catalog, version: str, date: str, line: str) -> None:
    found = release_of(engine(catalog, "vllm"), version, date)
    assert found is not None
    assert found.id == line


@pytest.mark.parametrize(
    ("name", "version", "line"),
    [
        ("sglang", "0.5.9", "0.5.9"),
        ("sglang", "0.5.10", "0.5.10"),
        ("sglang", "v0.5.10.post1", "0.5.10"),
        ("sglang", "0.5.11", "0.5.10"),
        # between two lines, the older one
        ("sglang", "0.5.6.post2", "0.5.5"),
        ("sglang", "0.5.7", "0.5.5"),
        # before 0.5.5
        ("sglang", "0.5.4", "0.4"),
        ("sglang", "0.4.9", "0.4"),
        # fewer parts than a line: the newest line that begins with them
        ("sglang", "0.5", "0.5.10"),
        ("sglang", "0", "0.5.10"),
        ("sglang", "1", "0.5.10"),
        # more parts than a line
        ("tensorrt-llm", "1.1.0rc5", "1.1"),
        ("tensorrt-llm", "0.21.0", "0.20"),
        ("tensorrt-llm", "1", "1.3"),
        # digits that begin the name of a commit are no version
        ("sglang", "0d3bae71", "0.5.10"),
    ],
)
def test_all_parts_of_a_version_count(catalog: Catalog, name: str, version: str, line: str) -> None:
    found = release_of(engine(catalog, name), version)
    assert found is not None
    assert found.id == line


def test_each_line_is_its_own_version(catalog: Catalog) -> None:
    for row in catalog.table("engines", Engine).values():
        for line in row.releases:
            assert release_of(row, line.id) == line, f"{row.id}@{line.id}"


def test_an_engine_without_lines_has_no_release(catalog: Catalog) -> None:
    assert release_of(engine(catalog, "lmdeploy"), "0.5", "2025-01") is None


def test_lines_are_in_the_order_of_their_dates(catalog: Catalog) -> None:
    for row in catalog.table("engines", Engine).values():
        dates = [str(r.since) for r in row.releases]
        assert dates == sorted(dates), row.id


def test_factors_of_engine_family_and_release_multiply(catalog: Catalog) -> None:
    row, family = engine(catalog, "vllm"), catalog.get("serving_families", "hopper", ServingFamily)
    release = next(r for r in row.releases if r.id == "0.19")
    found = engine_terms(InputLog(catalog), row, release, "hopper")
    for name in TERMS:
        key = name.replace("_", "-")
        value = catalog.get("serving", key, Parameter).value.value
        for factors in (row.factors, family.factors, release.factors):
            value *= factors.get(key, 1.0)
        if name in CAPPED:
            value = min(value, MOST_FRAC)
        assert found[name] == pytest.approx(value), name


def test_no_share_of_a_data_sheet_rate_is_above_its_cap(catalog: Catalog, tmp_path: Path) -> None:
    text = "serving: [{id: weight-hbm-frac, value: 0.94}]\n"
    (tmp_path / "own.yaml").write_text(text, encoding="utf-8")
    own = load((tmp_path,))
    row = engine(own, "sglang")  # its factor of this share is 1.048
    assert engine_terms(InputLog(own), row, None, "generic")["weight_hbm_frac"] == MOST_FRAC
    for row in catalog.table("engines", Engine).values():
        for release in (None, *row.releases):
            for family in catalog.table("serving_families", ServingFamily):
                terms = engine_terms(InputLog(catalog), row, release, family)
                assert all(0 < terms[n] <= MOST_FRAC for n in CAPPED)
                assert all(v >= 0 for v in terms.values())


def test_a_port_lengthens_every_time(catalog: Catalog) -> None:
    terms = engine_terms(InputLog(catalog), engine(catalog, "vllm"), None, "hopper")
    slow = ported(terms, 2.0)
    for name, value in terms.items():
        ratio = slow[name] / value
        rate = name in CAPPED or name.endswith("link_frac")
        time = name.endswith(("_us", "_ms", "_passes"))
        assert ratio == pytest.approx(0.5 if rate else 2.0 if time else 1.0), name


def test_a_port_factor_applies_to_its_family_only(catalog: Catalog) -> None:
    row = engine(catalog, "vllm")
    release = EngineRelease(id="9", since="2026-01", ports={"cdna3": 3.0})
    for family, factor in (("cdna3", 3.0), ("hopper", 1.0)):
        plain = engine_terms(InputLog(catalog), row, None, family)
        found = engine_terms(InputLog(catalog), row, release, family)
        assert found["layer_us"] == pytest.approx(factor * plain["layer_us"])


def test_an_unknown_family_is_the_generic_one(catalog: Catalog) -> None:
    row = engine(catalog, "vllm")
    log = InputLog(catalog)
    assert engine_terms(log, row, None, None) == engine_terms(log, row, None, "generic")


@pytest.mark.parametrize(
    ("name", "quantity", "kind", "key"),
    [
        ("vllm", "tpot_ms", "closed", "tpot-ms-closed"),
        ("vllm", "tpot_ms", "saturated", "tpot-ms"),
        ("tensorrt-llm", "power_w", "", "power-w"),
    ],
)
def test_the_most_specific_spread_counts(
    catalog: Catalog, name: str, quantity: str, kind: str, key: str
) -> None:
    row = engine(catalog, name)
    assert spread_of(catalog, row, "hopper", quantity, kind) == pytest.approx(
        float(getattr(row.spreads[key], "value", row.spreads[key]))
    )


def test_spreads_without_measured_rows_are_class_values(catalog: Catalog, tmp_path: Path) -> None:
    row = engine(catalog, "lmdeploy")
    assert spread_of(catalog, row, "hopper", "tpot_ms") == 0.5
    assert spread_of(catalog, engine(catalog, "vllm"), "cdna3", "tpot_ms", early=True) == 0.9
    (tmp_path / "own.yaml").write_text("serving: [{id: spread-unmeasured, value: 0.7}]\n")
    assert spread_of(load((tmp_path,)), row, "hopper", "tpot_ms") == 0.7

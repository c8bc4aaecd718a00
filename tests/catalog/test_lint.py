"""dcplan/catalog/lint.py: the shipped catalog is clean, and each rule fires on a bad row."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from dcplan.catalog.lint import Finding, lint
from dcplan.catalog.loader import load
from tests.catalog.overlays import loaded

TODAY = "2026-11-21"
SOURCE = 'name: T, source: {title: "made up", as_of: 2026-01}'
CHIP = f"accelerators:\n  - {{id: test-chip, {SOURCE}"
SYSTEM = f"systems:\n  - {{id: test-box, {SOURCE}, accelerator: h100-sxm, accelerators: 8, cooling_modes: [air], "
PUE = f"pue: [{{id: t, {SOURCE}, size: small, zone: 9Z"
OFFER = f"cloud:\n  - {{id: test-offer, {SOURCE}, provider: x, accelerators: 8, accelerator: h100-sxm, prices: "


def found(folder: Path, text: str, today: str = TODAY) -> list[Finding]:
    """Findings that the overlay adds to the shipped catalog."""
    known = shipped(today)
    return [f for f in lint(loaded(folder, text), today) if f not in known]


@functools.cache
def shipped(today: str) -> frozenset[Finding]:
    return frozenset(lint(load(), today))


def test_the_shipped_catalog_is_clean() -> None:
    assert lint(load(), TODAY) == []


@pytest.mark.parametrize(
    ("row", "code", "field"),
    [
        # sparse FP8: 4 x BF16 where dense is 2 x
        (CHIP + ", bf16_tflops: 1000, fp8_tflops: 4000}", "DC022", "fp8_tflops"),
        # 2.07 x is outside 2 +- 3 % (2.06)
        (CHIP + ", bf16_tflops: 1000, fp8_tflops: 2070}", "DC022", "fp8_tflops"),
        # 80 TB of HBM: a slip of the unit; plausible up to 5,000 GB
        (CHIP + ", hbm_gb: 80000}", "DC021", "hbm_gb"),
        (CHIP + ", tdp_kw: {value: 1, source: 'estimate: guess'}}", "DC022", "tdp_kw"),
        (CHIP + ", tdp_kw: {value: 1, low: 0.9, source: 'estimate: no high'}}", "DC022", "tdp_kw"),
        (CHIP + ", tdp_kw: {value: 1, as_of: 2031-01}}", "DC022", "tdp_kw"),
        (SYSTEM + "form: server, rated_kw: 10, peak_kw: 9}", "DC022", "peak_kw"),
        (
            SYSTEM + "form: server, rated_kw: 10, average_kw: {training: 11}}",
            "DC022",
            "average_kw.training",
        ),
        # 8 x 0.7 kW (H100 SXM TDP) = 5.6 kW, above 5 kW
        (SYSTEM + "form: server, rated_kw: 5}", "DC022", "rated_kw"),
        (SYSTEM + "form: rack, rated_kw: 10}", "DC022", "racks"),
        (SYSTEM.replace("h100-sxm", "h100-sxn") + "form: server}", "DC010", "accelerator"),
        (SYSTEM + "form: server, nic: no-nic}", "DC010", "nic"),
        (
            SYSTEM.replace("[air]", "[liquid]") + "form: server, price_usd: 1e5}",
            "DC022",
            "liquid_frac",
        ),
        (OFFER.replace("h100-sxm", "h1000") + "[]}", "DC010", "accelerator"),
        # 98,320 USD/h for one instance: decimal point
        (
            OFFER + "[{region: r, term: spot, usd_per_h: 98320, as_of: 2026-01, source: list}]}",
            "DC021",
            "prices[0].usd_per_h",
        ),
        (PUE + ", cooling: air-chiller, pue: 0.98, peak_pue: 1.2}]", "DC022", "peak_pue"),
        (PUE + ", cooling: air-chiller, pue: 1.4, peak_pue: 1.2}]", "DC022", "peak_pue"),
        (PUE + ", cooling: nothing, pue: 1.1, peak_pue: 1.2}]", "DC010", "cooling"),
        (f"residuals: [{{id: t, {SOURCE}, value_frac: [1, 0.6, 0.7]}}]", "DC022", "value_frac"),
        (f"residuals: [{{id: t, {SOURCE}, value_frac: [0.9, 0.6]}}]", "DC022", "value_frac"),
        (f"depreciation: [{{id: t, {SOURCE}, share_frac: [0.5, 0.4]}}]", "DC022", "share_frac"),
    ],
)
def test_each_rule_fires_on_its_bad_row(tmp_path: Path, row: str, code: str, field: str) -> None:
    assert [(f.code, f.field) for f in found(tmp_path, row)] == [(code, field)]


@pytest.mark.parametrize(
    "row",
    [
        CHIP + ", bf16_tflops: 1000, fp8_tflops: 1979}",
        CHIP + ", bf16_tflops: 1000, fp8_tflops: 4000, fp8_ratio_reason: 'a reason'}",
        CHIP + ", tdp_kw: {value: 1, low: 0.9, high: 1.1, source: 'estimate: with bounds'}}",
        SYSTEM + "form: server, rated_kw: 10.2, peak_kw: 10.2, average_kw: {training: 9}}",
        OFFER + "[{region: r, term: spot, usd_per_h: 98.32, as_of: 2026-01, source: list}]}",
        f"depreciation: [{{id: t, {SOURCE}, share_frac: [0.5, 0.5]}}]",
    ],
)
def test_a_good_row_is_left_in_peace(tmp_path: Path, row: str) -> None:
    assert found(tmp_path, row) == []


DATES = {
    "2026": False,
    "2026-11": False,
    "2026-11-21": False,
    "2026-11-22": True,
    "2026-12": True,
    "2027": True,
    "2026-Q1": False,  # ended on 2026-03-31
    "2026-Q4": False,  # has begun
    "2027-Q1": True,
}


def test_a_date_is_in_the_future_only_when_its_period_has_not_begun(tmp_path: Path) -> None:
    rows = [
        CHIP.replace("test-chip", f"chip-{i}").removeprefix("accelerators:\n")
        + f", tdp_kw: {{value: 1, as_of: {as_of}}}}}"
        for i, as_of in enumerate(DATES)
    ]
    ids = {f.id for f in found(tmp_path, "accelerators:\n" + "\n".join(rows))}
    assert {as_of: f"chip-{i}" in ids for i, as_of in enumerate(DATES)} == DATES


def test_old_values_are_found_only_when_asked_for(tmp_path: Path) -> None:
    catalog = loaded(tmp_path, CHIP + ", tdp_kw: {value: 1, as_of: 2020-05-01}}")

    def stale(days: int | None) -> list[str]:
        return [
            f.field
            for f in lint(catalog, TODAY, days)
            if f.id == "test-chip" and "older" in f.message
        ]

    assert stale(None) == []
    assert stale(365) == ["tdp_kw"]
    # 2020-05-01 to 2026-11-21 is 2,395 days
    assert stale(2500) == []


def test_a_cooling_option_without_pooled_pue_is_found(tmp_path: Path) -> None:
    row = (
        f"cooling: [{{id: t, {SOURCE}, accepts: [air], air_rack_kw_max: 10, liquid_rack_kw_max: 0, "
        "air_share_frac: 1, liquid_share_frac: 0, fit_out_usd_per_kw: 100}]"
    )
    assert [f.message for f in found(tmp_path, row)] == [
        f"the PUE row of all zones for a {size} hall is missing"
        for size in ("large", "midsize", "small")
    ]


def test_a_switch_whose_typical_power_is_above_its_maximum_is_found(tmp_path: Path) -> None:
    switch = next(iter(load().rows["switches"]))
    row = f"switches: [{{id: {switch}, typical_kw: 3, max_kw: 2}}]"
    assert "max_kw" in {f.field for f in found(tmp_path, row)}

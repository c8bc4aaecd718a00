"""Slips of unit and unused overlays draw a warning; ordinary quotes do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan.errors import InputError
from dcplan.planning.problem.sanity_checks import sanity_notes
from dcplan.scenario.load import load


def test_shipped_scenarios_raise_no_doubt() -> None:
    for name in (
        "train-405b-in-90-days",
        "retrofit-air-hall",
        "three-site-build-out",
        "meta-24k-h100",
        "campus-300-mw",
    ):
        assert sanity_notes(load(name)) == [], name


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("systems.dgx-b200.price_usd=515", "times the catalog value"),  # thousands forgotten
        ("systems.gb200-nvl72.rated_kw=0.132", "times the catalog value"),  # MW for kW
        ("sites.ashburn.halls.liquid.it_mw=8000", "check the unit"),  # kW for MW
        ("sites.ashburn.halls.liquid.it_mw=0.2", "more than the hall's"),
        ("systems.dgx-h100.price_usd=280e3", "not in `systems`"),
        ("sites.ashburn.energy.usd_per_kwh=0.83", "83 USD/MWh is 0.083 USD/kWh"),
        ("sites.ashburn.utility_mw=1400", "127 times the IT power of its halls"),  # 1400 / 11
        ("sites.ashburn.halls.liquid.pue=4.2", "check the decimal point"),
        ("finance.budget_usd=60", "below the price of one unit of the cheapest system"),
        ("finance.inflation_frac_per_year=3", "300% a year"),  # percent
        ("finance.debt={share: 0.5, rate: 0.9, term_years: 4}", "finance.debt.rate = 0.9 is 90%"),
        (
            "sites.ashburn.lease={usd_per_kw_month: 2200}",
            "11.3 times the usual rent, 195",
        ),  # a year
        (  # the price of one accelerator: 3.47 USD instead of 27.79 USD of eight
            "cloud={offers: [aws-p5en-48xlarge], prices: {aws-p5en-48xlarge: {reserved_3y_usd_per_h: 3.47}}}",
            "0.125 times the catalog price, 27.79 USD/h of one instance of 8 accelerators",
        ),
    ],
)
def test_each_slip_is_doubted(change: str, words: str) -> None:
    found = sanity_notes(load("train-405b-in-90-days", sets=[change]))
    assert any(words in text for text in found), found


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("links.long-haul.rtt_ms=0.0147", "14.7 ms"),  # seconds; 2 x 1,500 km x 4.897 us
        ("links.ring.gbps=4e14", "more than the network ports of 100,000 accelerators"),  # bit/s
    ],
)
def test_a_link_faster_than_light_or_in_bits_is_doubted(change: str, words: str) -> None:
    (note,) = sanity_notes(load("campus-300-mw", sets=[change]))
    assert words in note


def test_an_ordinary_quote_is_not_doubted() -> None:
    assert (
        sanity_notes(load("train-405b-in-90-days", sets=["systems.gb200-nvl72.price_usd=3.0e6"]))
        == []
    )


SERVICE = """
  inference:
    - {id: chat, model: llama-3.1-70b, isl: 1000, osl: 500, slo: {ttft_ms: 2000, tpot_ms: 50},
       tokens_per_s: 1e5, tokens_per_s_per_accelerator: {dgx-h200: RATE}}
"""


@pytest.mark.parametrize(("rate", "doubted"), [(14_000, False), (14_200, True)])
def test_throughput_above_the_arithmetic_of_the_accelerator_is_doubted(
    rate: float, doubted: bool, tmp_path: Path, repo: Path
) -> None:
    """H200 SXM: 1,979 dense FP8 TFLOP/s (NVIDIA datasheet, 3,958 with sparsity); Llama 3.1 70B has
    70.6 billion parameters: 1979e12 / (2 * 70.6e9) = 14,016 tokens/s."""
    text = (repo / "scenarios" / "train-405b-in-90-days.yaml").read_text(encoding="utf-8")
    file = tmp_path / "a.yaml"
    file.write_text(
        text.replace("\nobjective:", SERVICE.replace("RATE", str(rate)) + "\nobjective:"),
        encoding="utf-8",
    )
    found = [
        text for text in sanity_notes(load(str(file))) if "tokens/s of one accelerator" in text
    ]
    assert bool(found) == doubted, found


def test_a_peak_pue_below_the_annual_one_is_refused() -> None:
    hall = "sites.ashburn.halls.liquid"
    given = [f"{hall}.pue=1.4", f"{hall}.peak_pue=1.2"]
    with pytest.raises(
        InputError, match=r"peak_pue \(1\.2\) must be at least the annual pue \(1\.4\)"
    ):
        load("train-405b-in-90-days", sets=given)
    assert load("train-405b-in-90-days", sets=[given[0], f"{hall}.peak_pue=1.4"])

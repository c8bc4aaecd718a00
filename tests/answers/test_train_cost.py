"""A run's cost three ways against hand calculations from the figures that the answer itself
prints."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from dcplan.answers.fabric.answer import fabric
from dcplan.answers.train.answer import train
from dcplan.errors import InputError
from dcplan.result import Result


@pytest.fixture(scope="module")
def run() -> Result:
    """Llama 3.1 8B on 128 systems of 8 H100."""
    return train(
        "llama-3.1-8b",
        system="dgx-h100",
        accelerators=1024,
        site="us-dallas",
        usd_per_accelerator_hour=2.0,
    )


def _inputs(result: Result) -> dict[str, float]:
    return {row["key"]: row["value"] for row in result.inputs}


def _ways(result: Result) -> dict[str, dict[str, float]]:
    return {str(row["basis"]): row for row in result.tables["run_cost"].records()}  # type: ignore[misc]


def test_bought_is_all_systems_and_the_network_by_its_own_bill(run: Result) -> None:
    ways, given = _ways(run), _inputs(run)
    # an owner holds spares besides the 128 that train
    nodes = 128 + run.value("train.spares") / 8
    assert nodes > 128
    assert ways["bought"]["hardware_usd"] == pytest.approx(
        nodes * given["systems.dgx-h100.price_usd"]
    )
    network = fabric(system="dgx-h100", nodes=round(nodes), fabric=given["fabric"])
    assert ways["bought"]["network_usd"] == pytest.approx(network.value("fabric.capex_usd"))
    assert (
        run.value("train.capex_usd")
        == ways["bought"]["hardware_usd"] + ways["bought"]["network_usd"]
    )


def test_amortised_is_the_value_lost_in_the_hours_and_the_energy(run: Result) -> None:
    ways, given = _ways(run), _inputs(run)
    hours = run.value("train.accelerator_hours")
    # value falls by 0.14 orders of magnitude a year of 8,766 h
    nodes = 128 + run.value("train.spares") / 8
    lost = nodes * given["systems.dgx-h100.price_usd"] * (1 - 10 ** (-0.14 * hours / 1024 / 8766))
    assert ways["amortized"]["hardware_usd"] == pytest.approx(lost, rel=1e-12)
    price, pue = given["sites.us-dallas.usd_per_kwh"], given["facility.cloud-pue"]
    assert ways["amortized"]["energy_usd"] == pytest.approx(
        run.value("train.energy_mwh") * 1000 * pue * price, rel=1e-12
    )
    total = sum(ways["amortized"][k] for k in ("hardware_usd", "network_usd", "energy_usd"))
    assert run.value("train.amortized_usd") == pytest.approx(total, rel=1e-12)
    assert run.value("train.usd_per_million_tokens") == pytest.approx(
        total / 15e12 * 1e6, rel=1e-12
    )


def test_spares_are_bought_not_rented() -> None:
    few, many = (
        train(
            "llama-3.1-8b",
            system="dgx-h100",
            accelerators=64,
            global_batch_tokens=4e6,
            reliability=f"spares={n}",
        )
        for n in (0, 8)
    )
    price = _inputs(few)["systems.dgx-h100.price_usd"]
    assert many.value("train.spares") - few.value("train.spares") == 64
    more = _ways(many)["bought"]["hardware_usd"] - _ways(few)["bought"]["hardware_usd"]
    assert more == pytest.approx(8 * price)
    assert many.value("train.amortized_usd") > few.value("train.amortized_usd")


def test_rented_is_hours_times_rate(run: Result) -> None:
    assert _ways(run)["rented"]["total_usd"] == pytest.approx(
        2.0 * run.value("train.accelerator_hours")
    )


def test_older_hardware_loses_less_value() -> None:
    common = {"system": "dgx-h100", "accelerators": 1024}
    new, old = (train("llama-3.1-8b", hardware_age_years=age, **common) for age in (0.0, 2.0))
    ratio = _ways(old)["amortized"]["hardware_usd"] / _ways(new)["amortized"]["hardware_usd"]
    assert ratio == pytest.approx(10 ** (-0.14 * 2.0), rel=1e-12)  # 0.5248


def test_a_system_without_a_price_says_so(tmp_path: Path) -> None:
    bare = """systems:
  - id: bare
    name: Server without price and power
    source: {title: "made up", as_of: 2026-01}
    accelerator: h100-sxm
    accelerators: 8
    form: server
    cooling_modes: [air]
"""
    (tmp_path / "bare.yaml").write_text(bare, encoding="utf-8")
    result = train("llama-3.1-8b", system="bare", accelerators=1024, catalogs=(str(tmp_path),))
    assert "run_cost" not in result.tables
    assert any("no price in the catalog" in str(w["message"]) for w in result.warnings)


def test_no_run_loses_more_value_than_there_is() -> None:
    """Ten years on eight accelerators: the rate at the start, 32 % a year, would lose three times
    the price."""
    result = train("llama-3.1-8b", system="dgx-h100", accelerators=8, global_batch_tokens=1e6)
    ways = _ways(result)
    assert result.value("train.days_p50") > 2000
    assert ways["amortized"]["hardware_usd"] < ways["bought"]["hardware_usd"]
    assert ways["bought"]["network_usd"] == 0  # one node


def test_whole_systems_are_bought() -> None:
    result = train("llama-3.1-8b", system="dgx-h100", accelerators=12)
    assert (
        _ways(result)["bought"]["hardware_usd"] == 2 * _inputs(result)["systems.dgx-h100.price_usd"]
    )


def test_the_default_rent_counts_every_offer_once(run: Result) -> None:
    other = train("llama-3.1-8b", system="dgx-h200", accelerators=64)
    row = next(r for r in other.inputs if r["key"] == "usd_per_accelerator_hour")
    # on demand 1.99, 3.99, 4.29, 4.5, 6.305, 7.91, 10.0, 10.6, 10.6; one year 5.37, 6.68, 7.95: the
    # median of the twelve is the mean of 6.305 and 6.679
    assert row["value"] == pytest.approx((6.305 + 6.679) / 2, rel=1e-3)


def test_a_system_far_larger_than_the_run_says_so() -> None:
    """An Atlas 950 has 8,192 accelerators: bought for a thousand of them it says so; a TPU v5p pod
    is bought in cubes of 64 and does not."""
    pod, cube = (
        train("llama-3.1-8b", system=x, accelerators=1024) for x in ("atlas-950", "tpu-v5p-pod")
    )
    said = [
        [w for w in r.warnings if "complete systems (" in str(w["message"])] for r in (pod, cube)
    ]
    assert len(said[0]) == 1
    assert "8,192" in str(said[0][0]["message"])
    assert said[1] == []


OWN = (
    "accelerator-hours=1720320,usd-per-accelerator=24875,network-share-frac=0.19,"
    "value-oom-per-year=0.14,method=initial-rate,average-kw=0.609375,pue=1.1,usd-per-kwh=0.0806"
)
AGE_YEARS = 752 / 365.25
"""From 2021-02-14 to 2023-03-08."""


def epochs(cost: str) -> Result:
    return train(
        "llama-2-70b",
        system="dgx-a100",
        accelerators=1024,
        tokens=2e12,
        layout="tp=8,pp=4",
        hardware_age_years=AGE_YEARS,
        reliability="spares=0",
        cost=cost,
    )


def test_own_hours_prices_and_power_give_epoch_ai_s_cost() -> None:
    """Llama 2 70B: V0 = 24,875 x 10^(-0.14 t) = 12,809; 0.14 ln 10 / 8,766 of it an hour for 1,720,320
    hours; 0.19 / 0.81 of that for the network; 0.609375 kW x 1.1 x hours x 0.0806 USD."""
    start = 24_875 * 10 ** (-0.14 * AGE_YEARS)
    hardware = start * 0.14 * math.log(10) / 8766 * 1_720_320
    energy = 0.609375 * 1.1 * 1_720_320 * 0.0806
    rows = {r["basis"]: r for r in epochs(OWN).tables["run_cost"].records()}
    assert rows["amortized"]["hardware_usd"] == pytest.approx(hardware)
    assert rows["amortized"]["network_usd"] == pytest.approx(hardware * 0.19 / 0.81)
    assert rows["amortized"]["energy_usd"] == pytest.approx(energy)
    assert rows["amortized"]["total_usd"] == pytest.approx(1_093_378, abs=1)  # published, nominal
    assert rows["bought"]["total_usd"] == pytest.approx(1024 * 24_875 / 0.81)


def test_own_hours_count_in_the_rent_and_not_in_the_duration() -> None:
    plain, own = epochs("pue=1.1"), epochs("accelerator-hours=2788000")
    rate = next(r["value"] for r in own.inputs if r["key"] == "usd_per_accelerator_hour")
    assert own.metrics["train.cost_usd"].value == pytest.approx(2_788_000 * float(rate))
    assert own.metrics["train.accelerator_hours"] == plain.metrics["train.accelerator_hours"]
    rows = [r.tables["run_cost"].records() for r in (plain, own)]
    each = [next(r for r in x if r["basis"] == "amortized") for x in rows]
    hours = float(plain.metrics["train.accelerator_hours"].value or 0.0)
    pue = 1.1 / next(float(r["value"]) for r in own.inputs if r["key"] == "facility.cloud-pue")
    scale = float(str(each[1]["energy_usd"])) / float(str(each[0]["energy_usd"]))
    assert scale * pue == pytest.approx(2_788_000 / hours)


def test_cost_settings_are_refused_where_they_have_no_use() -> None:
    with pytest.raises(InputError, match="expected key=value"):
        epochs("hours=1")
    with pytest.raises(InputError, match=r"between 0 and 0\.9"):
        epochs("network-share-frac=1")
    with pytest.raises(InputError) as caught:
        epochs("pue=50,usd-per-kwh=11,usd-per-accelerator=1e9")
    assert [(p.code, p.cause) for p in caught.value.problems] == [
        (
            "DC051",
            "usd-per-accelerator=1000000000.0: must be between 0 and 100,000,000 USD, got 1000000000.0",
        ),
        ("DC051", "pue=50: must be between 1 and 10, got 50.0"),
        ("DC051", "usd-per-kwh=11: must be between 0 and 10 USD/kWh, got 11.0"),
    ]
    with pytest.raises(InputError, match=r"from 0 to 1,000 USD is needed"):
        train("llama-2-70b", system="dgx-a100", accelerators=8, usd_per_accelerator_hour=1001)
    with pytest.raises(InputError, match="--cost has no effect with a scenario"):
        train("scenarios/train-405b-in-90-days.yaml", cost="pue=1.1")
    with pytest.raises(InputError, match="--cost"):
        train("llama-2-70b", system="dgx-a100", deadline_days=30, tokens=2e12, cost="pue=1.1")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("accelerator-hours=1e6", "counts 1,000,000 accelerator-hours as given"),
        ("average-kw=1000", "average-kw=1,000 of --cost is above"),  # DGX H100: 10.2 kW for 8
        ("average-kw=0.7", ""),
        ("usd-per-kwh=0.1", ""),
    ],
)
def test_own_values_that_contradict_the_run_are_noted(given: str, said: str) -> None:
    found = train("llama-3.1-8b", system="dgx-h100", accelerators=1024, cost=given)
    notes = " ".join(w["message"] for w in found.warnings if w["code"] == "cost")
    assert said in notes
    assert ("as given" in notes or "is above" in notes) is bool(said)

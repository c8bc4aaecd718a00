"""FOCUS exports of providers: the official sample, and rows in each provider's columns.

`focus/LICENSE.md` has the origin of the files. The expected rates are worked out in the tests.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import yaml

from dcplan.answers.imports.prices import import_prices
from dcplan.answers.imports.spend import import_spend
from dcplan.catalog.loader import load
from dcplan.catalog.schema import Offer
from dcplan.provenance import Status
from dcplan.result import Result
from dcplan.specs.imports import RATES, REASONS, REJECTED

FOLDER = Path(__file__).parent / "focus"
H100 = "aws-p5-48xlarge"


def overrides(text: str) -> dict[str, float]:
    found = yaml.safe_load(text)["overrides"]["own-spend"]
    return {key.removeprefix("cloud.prices."): row["value"] for key, row in found.items()}


def reasons(result: Result) -> dict[str, tuple[int, int]]:
    """Return rows and first line by reason."""
    rows = REASONS.rows(result.tables[REASONS.name])
    return {row.group: (row.rows, row.first_line) for row in rows}


def test_the_official_sample_is_read_and_its_rejected_rows_are_counted() -> None:
    """98 rows of AWS, Microsoft and Oracle without an instance of the catalog."""
    result, text = import_spend(FOLDER / "official_sample.csv")
    assert (result.status, result.exit_code, text) == ("refused", 2, "")
    assert result.headline.endswith(
        "98 rejected; no rate: no row has hours of an instance of the catalog"
    )
    with (FOLDER / "official_sample.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    counted = reasons(result)
    assert sum(n for n, _ in counted.values()) == len(rows) == 98
    storage = [i for i, r in enumerate(rows, start=2) if r["ServiceCategory"] == "Storage"]
    assert counted["ServiceCategory Storage: not compute"] == (len(storage), storage[0])
    credits = [i for i, r in enumerate(rows, start=2) if r["ChargeCategory"] == "Credit"]
    assert counted["ChargeCategory Credit: not a usage charge"] == (len(credits), credits[0])
    assert [row.rows for row in REASONS.rows(result.tables[REASONS.name])] == sorted(
        (n for n, _ in counted.values()), reverse=True
    )


def test_without_an_exchange_rate_the_answer_names_the_flag(tmp_path: Path) -> None:
    """Two rows of use in EUR, and a credit, which is no use of accelerators."""
    text = (FOLDER / "aws.csv").read_text(encoding="utf-8").replace(",USD,", ",EUR,")
    file = tmp_path / "bill.csv"
    file.write_text(text, encoding="utf-8")
    used = import_spend(FOLDER / "aws.csv")[0].metrics["rows.imported"].value
    result, overrides_text = import_spend(file)
    assert (result.exit_code, overrides_text) == (2, "")
    assert f"no rate: no exchange rate for EUR: use --fx EUR=RATE ({used} rows)" in result.headline


def test_use_without_cost_gives_no_rate_and_no_overrides(tmp_path: Path) -> None:
    """Three rows of the sample with a renamed instance: their EffectiveCost is 0."""
    with (FOLDER / "official_sample.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    used = [r for r in rows if r["CommitmentDiscountStatus"] == "Used"][:3]
    assert {float(r["EffectiveCost"]) for r in used} == {0.0}
    for row in used:
        row["ResourceType"] = "p5.48xlarge"
    file = tmp_path / "renamed.csv"
    with file.open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    result, text = import_spend(file)
    assert (result.exit_code, text) == (2, "")
    assert "3 rows imported, 95 rejected; no rate: EffectiveCost is not above 0" in result.headline
    assert "spend.usd_per_accelerator_hour" not in result.metrics
    (rate,) = RATES.rows(result.tables[RATES.name])
    assert (rate.used_accelerator_hours, rate.usd_per_used_hour) == (24.0, None)
    assert rate.override == "none: EffectiveCost is not above 0"


def test_a_null_is_no_commitment(tmp_path: Path) -> None:
    """The sample writes NULL where there is no value: the row is on demand."""
    head = (
        "BilledCost,EffectiveCost,BillingCurrency,ChargeCategory,ChargePeriodStart,ChargePeriodEnd"
    )
    more = "ConsumedQuantity,ConsumedUnit,ResourceType,CommitmentDiscountStatus,PricingCategory"
    row = (
        "40,40,USD,Usage,2026-09-01 00:00:00,2026-09-02 00:00:00,1,Hours,p5.48xlarge,NULL,Standard"
    )
    file = tmp_path / "null.csv"
    file.write_text(f"{head},{more}\n{row}\n", encoding="utf-8")
    assert overrides(import_spend(file)[1]) == {f"{H100}.on_demand_usd_per_h": 40.0}


def test_aws_on_demand_reserved_spot_and_savings_plan() -> None:
    """On demand 5,504 USD for 100 h; one year: 21,000 + 4,200 USD for 600 used and 120 unused
    h = 35 an hour, 42 a used hour; spot 1,100 for 50; savings plan 7,600 for 200 of unknown
    length."""
    result, text = import_spend(FOLDER / "aws.csv")
    assert overrides(text) == {
        f"{H100}.on_demand_usd_per_h": pytest.approx(55.04),
        f"{H100}.reserved_1y_usd_per_h": pytest.approx(35.0),
        f"{H100}.spot_usd_per_h": pytest.approx(22.0),
    }
    rates = {row.term: row for row in RATES.rows(result.tables[RATES.name])}
    reserved, plan = rates["reserved-1y"], rates["committed"]
    assert (reserved.commitment, reserved.basis) == ("Reserved Instance", "usage")
    assert (reserved.used_accelerator_hours, reserved.unused_accelerator_hours) == (4800, 960)
    assert reserved.usd_per_used_hour == pytest.approx(42 / 8)
    assert reserved.usd_per_paid_hour == pytest.approx(35 / 8)
    assert (plan.commitment, plan.basis) == ("Savings Plan", "spend")
    assert plan.usd_per_used_hour == pytest.approx(7600 / 1600)
    assert plan.override == "none: the file has no length of the commitment"
    counted = reasons(result)
    assert counted["purchase of a commitment: the EffectiveCost of its hours covers it"] == (1, 5)
    assert counted["unused commitment that names no instance: its cost is in no rate"] == (1, 7)
    assert result.value("spend.usd_per_accelerator_hour") == pytest.approx(39_404 / 7_600)


def test_azure_reservation_of_three_years() -> None:
    """61,600 + 1,760 USD for 1,400 used and 40 unused hours: 44 an hour; x_SkuTerm is 36 months."""
    _, text = import_spend(FOLDER / "azure.csv")
    assert overrides(text) == {
        "azure-nd96isr-h100-v5.on_demand_usd_per_h": pytest.approx(98.32),
        "azure-nd96isr-h100-v5.reserved_3y_usd_per_h": pytest.approx(44.0),
    }


def test_google_bills_accelerators_cores_and_memory_apart() -> None:
    """7,200 + 500 + 300 USD for 800 accelerator-hours of an instance of 8: 80 an hour. Spot: 240 for
    80. An H100 without a machine type may be of two instances."""
    result, text = import_spend(FOLDER / "gcp.csv")
    assert overrides(text) == {
        "gcp-a3-ultragpu-8g.on_demand_usd_per_h": pytest.approx(80.0),
        "gcp-a3-ultragpu-8g.spot_usd_per_h": pytest.approx(24.0),
    }
    (ambiguous,) = (r for r in REJECTED.rows(result.tables[REJECTED.name]) if r.line == 6)
    assert ambiguous.reason.endswith("gcp-a3-highgpu-8g or gcp-a3-megagpu-8g")


def test_oracle_bills_hours_of_accelerators() -> None:
    """12,800 USD for 1,600 accelerator-hours: 64 an hour of the instance of 8."""
    result, text = import_spend(FOLDER / "oci.csv")
    assert overrides(text) == {"oci-bm-gpu-h100-8.on_demand_usd_per_h": pytest.approx(64.0)}
    assert reasons(result)["ambiguous instance"] == (1, 3)


QUOTES = """provider,instance_sku,accelerator,accel_count,region,on_demand_usd_h,price_basis,network_gbps,date
neo,neo-b300-8,B300,8,,40,per instance,3200,2026-10
Broker,p5.48xlarge,H100,8,,30,per instance,3200,2026-10
Broker,hgx-h100-8,H100,8,,28,per instance,3200,2026-10
Broker,big-8,H100,8,,26,per instance,3200,2026-10
Broker,big-9,H100,8,,26,per instance,3200,2026-10
"""


def test_quotes_have_their_own_status_one_prefix_and_the_accelerator_of_the_instance(
    tmp_path: Path,
) -> None:
    file = tmp_path / "quotes.csv"
    file.write_text(QUOTES, encoding="utf-8")
    result, text = import_prices(file)
    folder = tmp_path / "mine" / "cloud"
    folder.mkdir(parents=True)
    (folder / "imported.yaml").write_text(text, encoding="utf-8")
    offers = load((tmp_path / "mine",)).table("cloud", Offer)
    own = {key: o for key, o in offers.items() if o.provider in ("neo", "broker")}
    assert {key: o.accelerator for key, o in own.items()} == {
        "neo-b300-8": "b300-sxm",
        "broker-p5-48xlarge": "h100-sxm",
        "broker-hgx-h100-8": "h100-sxm",
    }
    assert {p.status for o in own.values() for p in o.prices} == {Status.QUOTE}
    (row,) = REASONS.rows(result.tables[REASONS.name])
    assert (row.group, row.rows, row.first_line) == ("ambiguous accelerator", 2, 5)
    assert "h100-nvl, h100-pcie, h100-sxm" in row.details

"""Price lists and cost exports: every row used or refused, and what they become."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from dcplan.answers.imports.answer import imported
from dcplan.answers.imports.currencies import fx_of
from dcplan.answers.imports.prices import import_prices
from dcplan.answers.imports.request import ImportRequest, Kind
from dcplan.answers.imports.spend import import_spend
from dcplan.answers.tco.answer import tco
from dcplan.catalog.loader import load
from dcplan.catalog.schema import Offer
from dcplan.errors import InputError
from dcplan.result import Result

HEAD = (
    "provider,instance_sku,accelerator,accel_count,region,on_demand_usd_h,reserved_1yr_usd_h,reserved_3yr_usd_h,"
    "spot_usd_h,capacity_block_usd_h,price_basis,network_gbps,date,currency"
)
PRICES = f"""{HEAD}
AWS,p5en.48xlarge,H200,8,us-east-2,50,,,,,per instance,3200,2026-10-01,
AWS,p5en.48xlarge,H200,8,us-east-2,51,,,,,per instance,3200,2026-09-01,
Mine,big-8,H200-141GB SXM,8,,2.5,,,,,per GPU,3200,2026-10 (rate card),
CoreWeave,h200,H200,1,,,,3.0,,,per GPU,,2026-10,EUR
AWS,p5en.48xlarge,B200,8,us-east-2,50,,,,,per instance,,2026-10-01,
Other,x,H100,8,,2.5,,,,,per instance,,2026-10,
Other,y,H200,8,,cheap,,,,,per instance,,2026-10,
Other,z,H200,8,,,,,,,per instance,,2026-10,
S3,standard,storage,,,23,,,,,USD per TB-month,,2026-10,
"""
SPEND_HEAD = (
    "BilledCost,EffectiveCost,ListCost,BillingCurrency,ChargeCategory,ChargePeriodStart,ChargePeriodEnd,"
    "ConsumedQuantity,ConsumedUnit,CommitmentDiscountStatus,CommitmentDiscountQuantity,CommitmentDiscountUnit,"
    "ResourceType"
)
MONTH = "2026-09-01T00:00:00Z,2026-10-01T00:00:00Z"
SPEND = f"""{SPEND_HEAD}
1000,1000,1101,USD,Usage,{MONTH},20,Hours,,,,p5.48xlarge
0,400,800,USD,Usage,{MONTH},16,Hours,Used,16,Hours,p5.48xlarge
0,100,200,USD,Usage,{MONTH},,,Unused,4,Hours,p5.48xlarge
500,0,0,USD,Purchase,{MONTH},,,,,,p5.48xlarge
90,90,90,EUR,Usage,{MONTH},24,GPU-Hours,,,,p5en.48xlarge
5,5,5,USD,Usage,{MONTH},3,GB,,,,
7,7,7,USD,Usage,{MONTH},3,GB,,,,p5.48xlarge
"""


def refused(result: Result) -> dict[int, str]:
    return {int(str(row[0])): str(row[2]) for row in result.tables["rejected"].rows}


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    file = tmp_path / "list.csv"
    file.write_text(PRICES, encoding="utf-8")
    return file


def test_every_row_of_a_price_list_is_used_or_refused(prices: Path) -> None:
    result, _ = import_prices(prices)
    why = refused(result)
    used = {int(str(row[0])) for row in result.tables["prices"].rows}
    assert used == {2, 4}
    assert used | why.keys() == set(range(2, 11))
    assert {row["serves_plans"] for row in result.tables["prices"].records()} == {"yes"}
    assert why[3] == "superseded by line 2: on-demand in us-east-2, the price of 2026-10-01"
    assert "no exchange rate for EUR: use --fx" in why[5]
    assert "has h200-sxm in the catalog, not b200-sxm" in why[6]
    assert "ambiguous accelerator" in why[7]
    assert "not a number" in why[8]
    assert "no price" in why[9]
    assert "per TB-month" in why[10]


def test_an_imported_price_is_what_the_answer_uses(prices: Path, tmp_path: Path) -> None:
    result, text = import_prices(prices, fx={"EUR": 1.1})
    folder = tmp_path / "mine"
    (folder / "cloud").mkdir(parents=True)
    (folder / "cloud" / "imported.yaml").write_text(text, encoding="utf-8")
    catalog = load((folder,))
    own = catalog.get("cloud", "mine-big-8", Offer)
    assert (own.accelerators, own.kind, own.prices[0].usd_per_h.value) == (8, "node", 20.0)
    # a price of one accelerator times the eight of the node, in USD; the other terms stay
    weave = catalog.get("cloud", "coreweave-h200", Offer)
    assert [p.usd_per_h.value for p in weave.prices if p.term == "reserved-3y"] == [
        pytest.approx(3.0 * 8 * 1.1)
    ]
    assert any(p.term == "on-demand" for p in weave.prices)
    assert result.metrics["rows.imported"].value == 3
    answer = tco("own-or-rent-1024-h200", sets=["sensitivity.inputs=[]"], catalogs=[str(folder)])
    row = next(
        r for r in answer.inputs if r["key"] == "cloud.aws-p5en-48xlarge.on_demand_usd_per_h"
    )
    assert (row["value"], row["source"]) == (50.0, "list.csv, line 2")


def listed(folder: Path, *rows: str) -> Path:
    file = folder / "list.csv"
    file.write_text("\n".join([HEAD, *rows]) + "\n", encoding="utf-8")
    return file


def by_reason(result: Result) -> dict[str, int]:
    rows = result.tables["rejected_by_reason"].records()
    return {str(row["reason"]): int(str(row["rows"])) for row in rows}


def test_absurd_quotes_are_rejected_by_reason(tmp_path: Path) -> None:
    """The catalog's prices range from 0.1 to 10,000 USD/h of an instance: 2,000 x 8 is above."""
    file = listed(
        tmp_path,
        "Mine,a,H200,8,x,1e9,,,,,per instance,3200,2026-10-01,",
        "Mine,b,H200,8,x,2000,,,,,per GPU,3200,2026-10-01,",
        "Mine,c,H200,8,x,0.09,,,,,per instance,3200,2026-10-01,",
        "Mine,d,H200,8,x,20,,,,,per instance,3200,2099-01-01,",
        "Mine,e,H200,8,x,20,,,,,per instance,3200,2026-10-16,",
        "Mine,f,H200,8,x,10000,,,0.1,,per instance,3200,2026-10-15,",
        "Mine,g,H200,8,x,20,,,,,per instance,3200,2026-Q4,",
    )
    result, text = import_prices(file, today="2026-10-15")
    assert by_reason(result) == {
        "price outside the range of the catalog": 3,
        "date in the future": 2,
    }
    assert {o["id"] for o in yaml.safe_load(text)["cloud"]} == {"mine-f", "mine-g"}
    assert (
        "on-demand is 16,000 USD/h for the instance, expected 0.1 to 10,000" in refused(result)[3]
    )
    assert refused(result)[5] == "date in the future: 2099-01-01 is after today, 2026-10-15"


def test_a_commitment_above_on_demand_is_kept_with_a_note(tmp_path: Path) -> None:
    file = listed(
        tmp_path,
        "Mine,a,H200,8,x,20,15,21,,,per instance,3200,2026-10-01,",
        "Mine,a,H200,8,y,,30,,,,per instance,3200,2026-10-01,",  # on demand is of region x
    )
    result, text = import_prices(file, today="2026-10-15")
    notes = {(r["line"], r["term"]): r["note"] for r in result.tables["prices"].records()}
    assert notes == {
        (2, "on-demand"): "",
        (2, "reserved-1y"): "",
        (2, "reserved-3y"): "above on demand, 20 USD/h",
        (3, "reserved-1y"): "",
    }
    [warning] = result.warnings
    assert warning["code"] == "above-on-demand"
    assert ": 1, the first in line 2, reserved-3y of mine-a: 21 USD/h" in warning["message"]
    [offer] = yaml.safe_load(text)["cloud"]
    assert {p["usd_per_h"] for p in offer["prices"]} == {20.0, 15.0, 21.0, 30.0}


def test_a_commitment_is_compared_with_the_on_demand_price_of_the_catalog(tmp_path: Path) -> None:
    offer = load().get("cloud", "aws-p5en-48xlarge", Offer)
    now = max((p for p in offer.prices if p.term == "on-demand"), key=lambda p: p.as_of)
    usd = now.usd_per_h.value
    rows = [
        f"AWS,p5en.48xlarge,H200,8,{now.region},,{usd + more},,,,per instance,3200,2026-10-01,"
        for more in (-0.5, 0.5)
    ]
    for row, kept in zip(rows, (0, 1), strict=True):
        result, _ = import_prices(listed(tmp_path, row), today="2026-10-15")
        assert len(result.warnings) == kept


def test_a_row_with_several_terms_is_one_row(tmp_path: Path) -> None:
    file = listed(
        tmp_path,
        "Mine,a,H200,8,x,20,15,10,,,per instance,3200,2026-09-01,",
        "Mine,a,H200,8,x,21,16,11,,,per instance,3200,2026-10-01,",
    )
    result, _ = import_prices(file, today="2026-10-15")
    assert result.headline == "list.csv: 1 row imported, 1 rejected"
    assert by_reason(result) == {"superseded by another line": 1}
    assert refused(result) == {
        2: "superseded by line 3: on-demand, reserved-1y, reserved-3y in x, the price of 2026-10-01"
    }
    file = listed(
        tmp_path,
        "Mine,a,H200,8,x,20,15,,,,per instance,3200,2026-09-01,",
        "Mine,a,H200,8,x,21,,,,,per instance,3200,2026-10-01,",
    )
    result, _ = import_prices(file, today="2026-10-15")
    assert result.headline == "list.csv: 2 rows imported, 0 rejected"
    assert by_reason(result) == {"some prices superseded by another line": 1}


def test_spend_gives_the_users_own_rate_and_use(tmp_path: Path) -> None:
    file = tmp_path / "focus.csv"
    file.write_text(SPEND, encoding="utf-8")
    result, text = import_spend(file)
    rows = {
        row[0]: dict(zip(result.tables["spend"].columns, row, strict=True))
        for row in result.tables["spend"].rows
    }
    p5 = rows["aws-p5-48xlarge"]
    # 36 used and 4 unused instance-hours of 8 accelerators for 1,500 USD, 2,101 at list price
    assert p5["used_accelerator_hours"] == 288
    assert p5["utilization_frac"] == pytest.approx(0.9)
    assert p5["usd_per_accelerator_hour"] == pytest.approx(1500 / 288)
    assert p5["average_accelerators"] == pytest.approx(288 / 720)
    assert p5["below_list_frac"] == pytest.approx(1 - 1500 / 2101)
    override = yaml.safe_load(text)["overrides"]["own-spend"][
        "cloud.prices.aws-p5-48xlarge.on_demand_usd_per_h"
    ]
    assert override["value"] == pytest.approx(50.0)  # 1,000 USD for 20 uncommitted instance-hours
    why = refused(result)
    assert set(why) == {5, 6, 7, 8}
    assert "Purchase" in why[5]
    assert "EUR" in why[6]
    assert "no instance" in why[7]
    assert "no hours" in why[8]
    euro, _ = import_spend(file, fx={"EUR": 1.2})
    assert euro.value("spend.accelerator_hours") == 288 + 24


def test_a_rate_that_no_row_needs_has_a_warning(tmp_path: Path) -> None:
    file = tmp_path / "focus.csv"
    file.write_text(SPEND, encoding="utf-8")
    request = ImportRequest(file=file, kind=Kind.SPEND, fx=("EUR=1.2", "CHF=1.1"))
    result, _ = imported(request)
    assert [w["message"] for w in result.warnings] == ["--fx CHF: no imported row is in CHF"]
    book = ImportRequest(file=file, kind=Kind.WORKBOOK, fx=("EUR=1.2",))
    with pytest.raises(InputError, match="no value of a workbook"):
        imported(book)


def test_equal_rows_of_a_bill_count_with_a_warning(tmp_path: Path) -> None:
    row = f"100,100,100,USD,Usage,{MONTH},2,Hours,,,,p5.48xlarge"
    other = row.replace(",2,Hours", ",3,Hours")
    file = tmp_path / "focus.csv"
    file.write_text("\n".join([SPEND_HEAD, row, other, row, row]) + "\n", encoding="utf-8")
    result, _ = import_spend(file)
    assert result.value("spend.effective_usd") == 400.0
    [warning] = result.warnings
    assert warning["code"] == "repeated-rows"
    assert "2 with USD 200.00 of EffectiveCost, the first in line 4" in warning["message"]
    file.write_text("\n".join([SPEND_HEAD, row, other]) + "\n", encoding="utf-8")
    assert import_spend(file)[0].warnings == []


def test_what_is_no_such_file_is_refused(tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("provider,instance_sku\nx,y\n", encoding="utf-8")
    with pytest.raises(InputError) as error:
        import_prices(bad)
    assert {p.cause for p in error.value.problems} >= {"no column accelerator", "no column date"}
    bad.write_bytes(b"\xff\xfe\x00")
    for read in (import_prices, import_spend):
        with pytest.raises(InputError):
            read(bad)
        with pytest.raises(InputError):
            read(tmp_path / "none.csv")
    with pytest.raises(InputError):
        fx_of(("EUR:1",))


def test_what_is_written_is_read_back_as_it_was(tmp_path: Path) -> None:
    """Regions that YAML would take for numbers, names of signs alone, a later quarter against a
    month."""
    rows = [
        "AWS,p5en.48xlarge,H200,8,1e3,50,,,,,per instance,3200,2026-Q1,",
        "AWS,p5en.48xlarge,H200,8,1e3,40,,,,,per instance,3200,2026-12-01,",
        "Mine,a.b,H200,8,0o17,20,,,,,per instance,3200,2026-10,",
        "Mine,a-b,H200,8,.5,21,,,,,per instance,3200,2026-10,",
        "Mine,机型,H200,8,x,21,,,,,per instance,3200,2026-10,",
        "Mine,c,H200,8,x,21,,,,,per instance,-400,2026-10,",
        "Mine,d,H200,1e17,x,21,,,,,per instance,400,2026-10,",
    ]
    file = tmp_path / "odd.csv"
    file.write_text("\n".join([HEAD, *rows]) + "\n", encoding="utf-8")
    result, text = import_prices(file, today="2026-12-31")
    (tmp_path / "o" / "cloud").mkdir(parents=True)
    (tmp_path / "o" / "cloud" / "imported.yaml").write_text(text, encoding="utf-8")
    catalog = load((tmp_path / "o",))
    known = catalog.get("cloud", "aws-p5en-48xlarge", Offer)
    assert [(p.region, p.usd_per_h.value) for p in known.prices if p.term == "on-demand"] == [
        ("1e3", 40.0)
    ]
    assert {
        o.id: o.prices[0].region
        for o in catalog.table("cloud", Offer).values()
        if o.provider == "mine"
    } == {"mine-a-b": "0o17", "mine-a-b-2": ".5"}
    assert set(refused(result)) == {2, 6, 7, 8}


def test_spend_with_mixed_dates_spot_and_corrections(tmp_path: Path) -> None:
    head = SPEND_HEAD + ",PricingCategory,ServiceCategory"
    rows = [
        "0,100,100,USD,Usage,2026-09-01 00:00:00,2026-10-01T00:00:00Z,10,Hours,,,,p5.48xlarge,Standard,Compute",
        "0,20,100,USD,Usage,2026-09-01T00:00:00Z,2026-10-01T00:00:00,10,Hours,,,,p5.48xlarge,Dynamic,Compute",
        "0,9,9,USD,Usage,2026-09-01T00:00:00Z,2026-10-01T00:00:00Z,1000,Hours,,,,disk of p5.48xlarge,Standard,Storage",
        "0,-5,-5,USD,Usage,2026-09-01T00:00:00Z,2026-10-01T00:00:00Z,-10,Hours,,,,p5en.48xlarge,Standard,Compute",
    ]
    file = tmp_path / "mixed.csv"
    file.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    result, text = import_spend(file)
    overrides = yaml.safe_load(text)["overrides"]["own-spend"]
    assert {k: v["value"] for k, v in overrides.items()} == {
        "cloud.prices.aws-p5-48xlarge.on_demand_usd_per_h": 10.0,
        "cloud.prices.aws-p5-48xlarge.spot_usd_per_h": 2.0,
    }
    assert set(refused(result)) == {4}

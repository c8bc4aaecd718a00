"""Bills in rows of FOCUS: hours and concurrency by hand, idle commitments, refusals, the block."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

import dcplan
from dcplan.answers.demand.answer import demanded
from dcplan.answers.demand.request import DemandRequest
from dcplan.errors import InputError
from dcplan.report.focus.charges import charges_of
from dcplan.report.focus.rows import COLUMNS, row_of
from tests.report.test_focus import COMMITTED

FOCUS = Path(__file__).parent / "focus"
HEADER = (
    "BilledCost,BillingCurrency,ChargeCategory,ChargeClass,ChargeDescription,ChargePeriodStart,"
    "ChargePeriodEnd,CommitmentDiscountStatus,ConsumedQuantity,ConsumedUnit,EffectiveCost,"
    "ProviderName,RegionId,SkuId,SkuMeter"
)


def charge(
    start: str,
    end: str,
    hours: float | str,
    *,
    usd: float | str = 0,
    status: str = "",
    what: str = "BoxUsage:p5.48xlarge",
    unit: str = "Hours",
    currency: str = "USD",
    kind: str = "",
    region: str = "us-east-1",
) -> str:
    return (
        f"{usd},{currency},Usage,{kind},,{start},{end},{status},{hours},{unit},{usd},AWS,{region},"
        f"P5,{what}"
    )


def bill(path: Path, rows: Sequence[str]) -> Path:
    path.write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
    return path


def hourly(day: int, instances: int) -> list[str]:
    """Charges of each hour of a day of September 2026: instances of 8 accelerators, USD 50 each."""
    ends = [f"2026-09-{day + (h + 1) // 24:02d}T{(h + 1) % 24:02d}:00:00Z" for h in range(24)]
    return [
        charge(f"2026-09-{day:02d}T{h:02d}:00:00Z", ends[h], instances, usd=50 * instances)
        for h in range(24)
    ]


OWN = """\
cloud:
  - id: own-8x
    name: Own 8x
    provider: own
    kind: node
    source: {title: a made-up offer of a test, url: "https://example.org", as_of: "2026-01-01"}
    accelerator: h100-sxm
    accelerators: 8
    prices:
      - {region: us-east-1, term: on-demand, usd_per_h: 50, as_of: "2026-01-01", source: {title: as above, url: "https://example.org"}}
"""


def own_offer(folder: Path) -> Path:
    folder.mkdir()
    (folder / "cloud").mkdir()
    (folder / "cloud" / "own.yaml").write_text(OWN, encoding="utf-8")
    return folder


def refused(*paths: Path, **more: object) -> list[str]:
    with pytest.raises(InputError) as caught:
        dcplan.demand(list(paths), **more)
    return [f"{p.place}: {p.cause}" for p in caught.value.problems]


def test_hours_of_a_month_and_the_idle_commitment_by_hand() -> None:
    """(100 + 600 + 200 + 50) x 8 = 7,600 used hours, 120 x 8 = 960 idle ones for USD 4,200.

    7,600 / 720 h = 10.556; USD 5,504 + 21,000 + 4,200 + 7,600 + 1,100 = 39,404. The unused part of a
    savings plan (USD 400) has no hours, and the purchase of the reservation is covered by them.
    """
    found = dcplan.demand([FOCUS / "aws.csv"])
    assert found.value("demand.rented_accelerator_hours") == pytest.approx(7_600)
    assert found.value("demand.idle_commitment_accelerator_hours") == pytest.approx(960)
    assert found.value("demand.idle_commitment_usd") == pytest.approx(4_200)
    assert found.value("demand.effective_usd") == pytest.approx(39_404)
    assert found.value("demand.rented_accelerators_mean") == pytest.approx(7_600 / 720)
    (month,) = found.tables["rented_by_month"].records()
    assert (month["period"], month["spread_frac"]) == ("2026-09", 1.0)
    days = [
        float(str(r["used_accelerator_hours"])) for r in found.tables["rented_by_day"].records()
    ]
    assert sum(days) == pytest.approx(7_600)
    skus = {
        str(r["sku"]): r for r in found.tables["rented_by_sku"].records() if r["term"] != "spot"
    }
    assert skus["P5OD"]["region"] == "us-east-1"
    findings = {r["finding"]: r for r in found.tables["log_findings"].records()}
    assert findings["idle-without-instance"]["count"] == 1
    assert "400" in str(findings["idle-without-instance"]["what"])
    assert findings["not-compute"]["count"] == 3


def test_concurrency_of_hourly_rows(tmp_path: Path) -> None:
    """1 instance on the 1st, 3 on the 2nd: 8 and 24 accelerators, 16 on average, at USD 6.25."""
    file = bill(tmp_path / "bill.csv", [*hourly(1, 1), *hourly(2, 3)])
    found = dcplan.demand([file])
    days = found.tables["rented_by_day"].records()
    assert [(r["period"], r["accelerators"]) for r in days] == [
        ("2026-09-01", 8),
        ("2026-09-02", 24),
    ]
    assert found.value("demand.rented_accelerators_mean") == pytest.approx(16)
    assert found.value("demand.rented_accelerators_peak") == pytest.approx(24)
    assert found.value("demand.usd_per_used_accelerator_hour") == pytest.approx(6.25)
    assert not found.warnings


def test_a_charge_over_midnight_is_shared_by_its_days(tmp_path: Path) -> None:
    """4 h x 8 from 22:00 on: 16 accelerator-hours on each day."""
    rows = [charge("2026-09-01T22:00:00Z", "2026-09-02T02:00:00Z", 4)]
    days = dcplan.demand([bill(tmp_path / "b.csv", rows)]).tables["rented_by_day"].records()
    assert [r["used_accelerator_hours"] for r in days] == pytest.approx([16, 16])


def test_a_row_of_two_exports_counts_once_and_of_one_export_twice(tmp_path: Path) -> None:
    one = bill(tmp_path / "a.csv", hourly(1, 1))
    two = bill(tmp_path / "b.csv", [*hourly(1, 1), *hourly(2, 1)])
    twice = bill(tmp_path / "c.csv", hourly(1, 1) * 2)
    both = dcplan.demand([one, two])
    assert both.value("demand.rented_accelerator_hours") == pytest.approx(2 * 24 * 8)
    counts = {r["finding"]: r["count"] for r in both.tables["log_findings"].records()}
    assert counts == {"row-of-two-exports": 24}
    alone = dcplan.demand([twice])
    assert alone.value("demand.rented_accelerator_hours") == pytest.approx(2 * 24 * 8)
    assert alone.tables["log_findings"].records()[0]["finding"] == "repeated-row"


def test_a_correction_is_added_with_its_sign(tmp_path: Path) -> None:
    day = ("2026-09-01T00:00:00Z", "2026-09-02T00:00:00Z")
    rows = [charge(*day, 24), charge(*day, -4, kind="Correction")]
    found = dcplan.demand([bill(tmp_path / "b.csv", rows)])
    assert found.value("demand.rented_accelerator_hours") == pytest.approx(20 * 8)


def test_rows_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    day = ("2026-09-01T00:00:00Z", "2026-09-02T00:00:00Z")
    rows = [
        charge(*day, 24),
        charge(*day, "many"),
        charge(*day, 24, currency="EUR"),
        charge(*day[::-1], 24),
        charge(*day, 24, unit="Requests"),
        charge(*day, -24),
        charge(*day, 24, usd=""),
        charge(*day, 24, what="GPU of a new kind"),
        charge(*day, 24, what="BoxUsage:m7.large"),
    ]
    said = refused(bill(tmp_path / "bill.csv", rows))
    assert [text.split(": ")[0].rpartition(":")[2] for text in said] == [
        str(n) for n in range(3, 10)
    ]
    for text, words in zip(
        said,
        ("many", "EUR", "ends before", "Requests", "negative", "EffectiveCost", "no instance"),
        strict=True,
    ):
        assert words in text
    only = bill(tmp_path / "cpu.csv", rows[-1:])
    assert "no row is a charge" in refused(only)[0]


def test_the_bill_that_dcplan_exports_of_a_plan_is_read(tmp_path: Path) -> None:
    """A commitment of 17,532 accelerator-hours in a quarter for USD 35,064, of which 13,149 are used."""
    payment = replace(COMMITTED, item="aws-p5-48xlarge")
    rows = [row_of(c, "plan", end=12 * 2030) for c in charges_of(payment)]
    file = tmp_path / "plan.csv"
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    found = dcplan.demand([file])
    assert found.value("demand.rented_accelerator_hours") == pytest.approx(13_149)
    assert found.value("demand.idle_commitment_accelerator_hours") == pytest.approx(4_383)
    assert found.value("demand.idle_commitment_usd") == pytest.approx(35_064 / 4)
    assert found.value("demand.effective_usd") == pytest.approx(35_064)
    months = found.tables["rented_by_month"].records()
    assert [r["period"] for r in months] == ["2027-04", "2027-05", "2027-06"]
    assert {r["term"] for r in found.tables["rented_by_sku"].records()} == {"reserved-1y"}


def test_flags_and_files_of_another_kind_are_refused(tmp_path: Path) -> None:
    file = bill(tmp_path / "bill.csv", hourly(1, 1))
    assert refused(file, wait_h=2.0) == ["--wait-h: not for bills"]
    jobs = tmp_path / "jobs.csv"
    jobs.write_text("submit,run,n\n0,10,1\n")
    assert "next to logs of another kind" in refused(jobs, file)[0]


def test_the_block_has_the_hours_of_a_quarter_at_the_use_of_the_busiest_day(tmp_path: Path) -> None:
    """16 of 24 accelerators: 16 x 2,191.5 h in a quarter (365.25 / 4 x 24), 2/3 of the busiest day.

    The bill has 48 h: its middle is 24 h before the first quarter, whose middle is 1,095.75 h later:
    growth for (24 + 1,095.75) / 2,191.5 = 0.51095 quarters. From the middle of the bill, midnight of 2
    September 2026, to the middle of 2027-Q1 (1 January and 45.65625 days) are 121 + 45.65625 days, which
    are 166.65625 / 91.3125 = 1.82512 quarters.
    """
    file = bill(tmp_path / "bill.csv", [*hourly(1, 1), *hourly(2, 3)])
    request = DemandRequest(files=(file,), growth_frac_per_quarter=0.5, quarters=2)
    (entry,) = yaml.safe_load(demanded(request).block)["workloads"]["capacity"]
    assert entry["id"] == "rented-h100-sxm"
    first = 16 * 2_191.5 * 1.5**0.51095
    assert entry["accelerator_hours"] == pytest.approx([first, first * 1.5], rel=1e-4)
    later = DemandRequest(files=(file,), growth_frac_per_quarter=0.5, start="2027-Q1", quarters=1)
    (entry,) = yaml.safe_load(demanded(later).block)["workloads"]["capacity"]
    assert entry["accelerator_hours"] == pytest.approx([16 * 2_191.5 * 1.5**1.82512], rel=1e-4)
    assert entry["utilization_frac"] == pytest.approx(2 / 3, rel=1e-5)
    found = demanded(DemandRequest(files=(file,)))
    assert found.block == ""
    assert "--growth-frac-per-quarter" in found.no_block


def test_a_bill_in_euros_needs_its_rate_and_has_its_cost_in_dollars(tmp_path: Path) -> None:
    """24 h of 8 accelerators for EUR 1,000 at 1.1 USD each: 192 h, USD 1,100."""
    day = ("2026-09-01T00:00:00Z", "2026-09-02T00:00:00Z")
    file = bill(tmp_path / "bill.csv", [charge(*day, 24, usd=1_000, currency="EUR")])
    assert "BillingCurrency is EUR" in refused(file)[0]
    found = dcplan.demand([file], fx=["EUR=1.1"])
    assert found.value("demand.rented_accelerator_hours") == pytest.approx(192.0)
    assert found.value("demand.effective_usd") == pytest.approx(1_100.0)
    assert found.scenario["demand"]["fx"] == ["EUR=1.1"]


def test_a_rate_that_no_charge_needs_is_refused(tmp_path: Path) -> None:
    day = ("2026-09-01T00:00:00Z", "2026-09-02T00:00:00Z")
    file = bill(tmp_path / "bill.csv", [charge(*day, 24, usd=1_000, currency="EUR")])
    assert refused(file, fx=["EUR=1.1", "CHF=1.2"]) == [
        "--fx: no charge for accelerators is in CHF"
    ]
    # dollars have no rate, and a second rate of one currency would hide the first
    dollars = bill(tmp_path / "usd.csv", [charge(*day, 24, usd=1_000)])
    assert refused(dollars, fx=["USD=2"]) == ["--fx: no charge for accelerators is in USD"]
    assert refused(file, fx=["EUR=1.1", "EUR=1.2"]) == ["--fx: EUR has two rates"]


def test_instances_of_an_own_catalog_are_known(tmp_path: Path) -> None:
    """A bill of 24 h of an instance that is in the user's catalog alone, with 8 accelerators."""
    day = ("2026-09-01T00:00:00Z", "2026-09-02T00:00:00Z")
    file = bill(tmp_path / "bill.csv", [charge(*day, 24, usd=500, what="BoxUsage:own-8x")])
    own = own_offer(tmp_path / "own")
    assert "own" in refused(file)[0] or "no row is a charge" in refused(file)[0]
    found = dcplan.demand([file], catalogs=[str(own)])
    assert found.value("demand.rented_accelerator_hours") == pytest.approx(192.0)


def test_rates_and_catalogs_are_for_bills_alone(tmp_path: Path) -> None:
    log = tmp_path / "jobs.csv"
    log.write_text("submit,wait,run,n\n0,0,60,8\n", encoding="utf-8")
    assert refused(log, fx=["EUR=1.1"]) == ["--fx: only for bills"]
    own = own_offer(tmp_path / "own")
    assert "only for bills" in refused(log, catalogs=[str(own)])[0]

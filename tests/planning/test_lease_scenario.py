"""Leases of a scenario file: refusals, payments from the lessor's rate, and every output."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

import pytest

from dcplan.answers.tco.answer import tco
from dcplan.answers.tco.request import TcoRequest
from dcplan.api.plan import plan
from dcplan.errors import InputError
from dcplan.report.focus.export import focus_csv
from dcplan.result import Result

FILE = """
dcplan: 1
name: leased
horizon: {start: 2027-Q1, quarters: 4}
finance:
  discount_rate: 0.1
  tax: {income_rate: 0.25, sales_tax_frac: 0.05}
  debt: {share: 0.5, rate: 0.08, term_years: 3}
  leases:
    - {id: bank, systems: [dgx-h200], term_months: 12, rate: 0.06, residual_frac: 0.7}
    - {id: long, term_months: 36, payment_frac_per_month: 0.025}
sites:
  - id: own
    location: us-columbus
    utility_mw: 4
    energy: {usd_per_kwh: 0.07}
    halls: [{id: a, existing: true, racks: 80, rack_kw_max: 45, it_mw: 2.4, cooling: [rear-door-tower]}]
systems: [dgx-h200]
fabrics: [ib-ndr-400]
storage: {usable_pb: 3}
workloads:
  capacity:
    - {id: research, pflops_delivered: [0, 20, 30, 40], utilization_frac: 0.6,
       reference: {model: llama-3.1-70b, seq_len: 8192}}
"""
LEVEL = (1 - 0.7 * 1.005**-12) * 0.005 / (1 - 1.005**-12)
"""Level payment of a month: USD 1 less 0.70 in twelve months, at half a percent a month."""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("leased") / "leased.yaml"
    path.write_text(FILE, encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def answer(file: str) -> Result:
    return plan(file)


def changed(path: str, folder: Path, old: str, new: str) -> str:
    text = Path(path).read_text(encoding="utf-8")
    assert old in text
    copy = folder / "changed.yaml"
    copy.write_text(text.replace(old, new), encoding="utf-8")
    return str(copy)


@pytest.mark.parametrize(
    ("old", "new", "code", "place", "cause"),
    [
        ("term_months: 36", "term_months: 10", "DC004", 11, "a multiple of 3"),
        (", residual_frac: 0.7", "", "DC004", 10, "rate and residual_frac"),
        ("id: long", "id: bank", "DC011", 11, "occurs twice"),
        ("systems: [dgx-h200], term", "systems: [dgx-h20], term", "DC010", 10, "dgx-h20"),
        ("systems: [dgx-h200], term", "systems: [dgx-b200], term", "DC015", 10, "may not order"),
        ("term_months: 36", "term_months: 48", "DC015", 11, "80% of the service life"),
        ("term_months: 36", "term_months: 72", "DC015", 11, "longer than the service life"),
        ("month: 0.025", "month: 0.0313", "DC015", 11, "worth 99.9% of the price"),
        ("systems: [dgx-h200]\n", "systems: []\n", "DC015", 10, "no systems"),
    ],
)
def test_a_lease_that_is_none_is_refused(
    file: str, tmp_path: Path, old: str, new: str, code: str, place: int, cause: str
) -> None:
    with pytest.raises(InputError) as error:
        plan(changed(file, tmp_path, old, new))
    found = [p for p in error.value.problems if p.code == code]
    assert found, error.value.problems
    assert cause in found[0].cause
    assert found[0].place.line == place
    assert code == "DC011" or found[0].help or found[0].hint


def test_tco_refuses_leases_of_a_plan(file: str) -> None:
    with pytest.raises(InputError, match=r"finance\.leases are choices"):
        tco(TcoRequest(file))


def test_the_payment_follows_from_rate_and_residual_value(answer: Result) -> None:
    (row, *others) = answer.tables["leases"].records()
    assert {x["lease"] for x in (row, *others)} == {"bank"}
    for x in (row, *others):
        assert x["payment_usd_per_month"] == pytest.approx(LEVEL * float(x["price_usd"]), rel=1e-12)
    assert row["price_usd"] == pytest.approx(350e3 * int(row["accelerators"]) / 8)


def test_every_output_has_the_payments_of_the_leases(answer: Result) -> None:
    """Flows, purchase schedule, table of leases and FOCUS agree; statements balance."""
    total = sum(
        float(x["paid_in_horizon_usd"]) + float(x["paid_after_horizon_usd"])
        for x in answer.tables["leases"].records()
    )
    assert total > 0.0
    for name in ("flows", "purchases"):
        paid = "usd" if name == "flows" else "amount_usd"
        found = [x for x in answer.tables[name].records() if "on lease" in str(x["line"])]
        assert sum(float(x[paid]) for x in found) == pytest.approx(total, rel=1e-9)
    charges = [
        x for x in csv.DictReader(io.StringIO(focus_csv(answer))) if "on lease" in str(x["x_Line"])
    ]
    assert sum(float(x["BilledCost"]) for x in charges) == pytest.approx(total, rel=1e-9)
    assert {x["ServiceName"] for x in charges} == {"Leased racks"}
    cost = answer.metrics["cost.npv_usd"].value
    flows = answer.tables["flows"].records()
    present = 0.0
    for x in flows:
        year, quarter = int(str(x["quarter"])[:4]), int(str(x["quarter"])[-1])
        t = 4 * (year - 2027) + quarter - 1
        present += float(x["usd"]) * 1.1 ** -((t + (1.0 if x["falls"] == "end" else 0.5)) / 4)
    assert present == pytest.approx(cost, rel=1e-9)
    for row in answer.tables["statements"].records():
        assert math.isclose(float(row["difference_usd"]), 0.0, abs_tol=1e-3)
    assert "on lease" in answer.headline


def test_leased_and_bought_racks_are_the_racks_of_the_orders(answer: Result) -> None:
    decisions = answer.tables["decisions"].records()
    ordered = sum(int(x["amount"]) for x in decisions if x["decision"] == "order")
    leased = sum(int(x["amount"]) for x in decisions if x["decision"] == "lease")
    rows = answer.tables["racks"].records()
    assert sum(int(x["racks"]) for x in rows) == ordered
    away = [x for x in rows if str(x["decision"]).startswith("to lease")]
    assert sum(int(x["racks"]) for x in away) == leased > 0

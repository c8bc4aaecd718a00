"""Conventions of a comparison: hours, lines left out, own lines, quotes, mixes, tariffs, schedules."""

from __future__ import annotations

import pytest

from dcplan.answers.check.answer import check
from dcplan.answers.plan.answer import plan
from dcplan.answers.tco.answer import tco
from dcplan.answers.tco.conventions import OF_ASSET, OF_CHARGE, ONSITE
from dcplan.answers.tco.rented import NAMES
from dcplan.economics.cash_flow import Charge
from dcplan.errors import InputError
from dcplan.result import Result
from dcplan.scenario.ref import ScenarioRef
from dcplan.scenario.schema.comparison import OWNED_LINES, RENTED_LINES

FILE = "cost/textbook"
RENT = "aws-p5-48xlarge.on-demand"
NODE_USD = 290_000
"""Own price of a server of 8 in these tests."""
BASE = (f"prices.dgx-h100.price_usd={NODE_USD}", "comparison.only=null")


def answer(*sets: str, variant: str | None = None) -> Result:
    return tco(FILE, variant=variant, sets=[*BASE, *sets] if variant is None else list(sets))


def lines(result: Result, side: str = "owned") -> dict[str, float]:
    rows = result.tables["lines"].records()
    return {str(r["line"]): float(str(r["usd"])) for r in rows if r["side"] == side}


def value(result: Result, key: str) -> float:
    return float(result.metrics[key].value or 0.0)


def row(result: Result, table: str, first: str) -> dict[str, float]:
    found = next(r for r in result.tables[table].records() if next(iter(r.values())) == first)
    return {k: float(x) for k, x in found.items() if isinstance(x, int | float)}


def refused(*sets: str) -> str:
    with pytest.raises(InputError) as caught:
        answer(*sets)
    return " ".join(f"{p.code} {p.cause} {p.hint}" for p in caught.value.problems)


def test_every_line_of_a_bill_has_a_name_that_may_be_left_out() -> None:
    owned = {*OF_ASSET.values(), *OF_CHARGE.values(), ONSITE, "goodput-loss", "residual"}
    assert owned == set(OWNED_LINES)
    assert set(OF_CHARGE) == {x.value for x in Charge}
    assert set(NAMES.values()) == set(RENTED_LINES)


def test_a_month_has_the_hours_that_are_given() -> None:
    """8 accelerators, 36 months, 55.04 USD/h a server of 8: 36 x 720 x 55.04 = 1,426,637 USD."""
    price = "cloud.prices.aws-p5-48xlarge.on_demand_usd_per_h=55.04"
    found = answer(price, "comparison.hours_per_month=720")
    assert lines(found, RENT)["accelerators"] == pytest.approx(36 * 720 * 55.04)
    calendar = answer(price, "comparison.hours_per_month=730.5")
    usual = tco(FILE, sets=[BASE[0], price, "comparison=null"])
    assert lines(calendar) == pytest.approx(lines(usual))
    ratio = lines(found)["energy"] / lines(usual)["energy"]
    assert ratio == pytest.approx(720 / 730.5)


def test_own_accelerator_hours_are_a_utilization() -> None:
    """8 x 36 months x 730 h = 210,240 h; 157,680 h are 75 % of them."""
    hours = answer("comparison.accelerator_hours=157680")
    share = answer("fleet.utilization_frac=0.75")
    for side in ("owned", RENT):
        assert lines(hours, side) == pytest.approx(lines(share, side))
    kept = "comparison.only=[racks, energy, accelerators]"
    hours, share = (
        answer(kept, x)
        for x in ("comparison.accelerator_hours=157680", "fleet.utilization_frac=0.75")
    )
    key = f"break_even.{RENT}.utilization_frac"
    assert 0.0 < value(hours, key) == pytest.approx(value(share, key))
    assert "DC015" in refused("comparison.accelerator_hours=210241")
    both = refused("comparison.accelerator_hours=1000", "fleet.utilization_frac=0.5")
    assert "exclude each other" in both


def test_own_power_gives_the_energy_bill() -> None:
    """8 x 0.95 kW x 1.2 PUE x 36 x 730 h x 0.08 USD = 19,173.89 USD at full use, half of it at half."""
    full = answer("comparison.average_accelerator_kw=0.95")
    assert lines(full)["energy"] == pytest.approx(8 * 0.95 * 1.2 * 36 * 730 * 0.08)
    half = answer("comparison.average_accelerator_kw=0.95", "fleet.utilization_frac=0.5")
    assert lines(half)["energy"] == pytest.approx(lines(full)["energy"] / 2)


def test_lines_left_out_do_not_count_on_the_sides_that_are_named() -> None:
    whole = answer()
    out = answer("comparison.leave_out=[owned.storage, support, goodput-loss, residual]")
    gone = {"storage", "goodput loss"} | {x for x in lines(whole) if x.startswith("residual")}
    kept = {k: v for k, v in lines(whole).items() if k not in gone | {"total"}}
    assert {k: v for k, v in lines(out).items() if k != "total"} == pytest.approx(kept)
    assert lines(out)["total"] == pytest.approx(sum(kept.values()))
    rent = lines(out, RENT)
    assert rent["storage"] == lines(whole, RENT)["storage"]
    assert not {"support", "goodput loss"} & set(rent)


def test_support_counts_only_the_lines_that_are_left() -> None:
    found = answer("comparison.leave_out=[rented.storage]")
    rent = lines(found, RENT)
    billed = sum(rent[x] for x in ("accelerators", "network and egress", "CPU nodes"))
    assert rent["support"] == pytest.approx(0.05 * billed)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("comparison.hours_per_month=730", True),
        ("comparison.leave_out=[debugging]", False),
        ("comparison.leave_out=[staff]", False),
        ("comparison.rents=[{id: aws-p5-48xlarge, debugging_usd_per_month: 0}]", False),
        ("sites.dc.staff.people=1", False),
    ],
)
def test_people_on_one_side_give_a_note(change: str, said: bool) -> None:
    messages = [str(w["message"]) for w in answer(change).warnings]
    assert any("includes no staff" in m for m in messages) == said


def test_a_fleet_without_rented_lines_is_priced_alone() -> None:
    found = answer("comparison.only=[owned.racks]")
    assert lines(found) == pytest.approx({"racks dgx-h100": NODE_USD, "total": NODE_USD})
    assert not found.tables["rented"].rows
    assert "rents are not compared" in found.headline


def test_what_is_no_line_is_refused_with_the_nearest() -> None:
    unknown = refused("comparison.only=[rack]")
    assert "DC010 no cost line 'rack'" in unknown
    assert "racks" in unknown
    assert "only and leave_out" in refused(
        "comparison.only=[racks]", "comparison.leave_out=[staff]"
    )
    assert "expected at least 1 entry, got 0" in refused("comparison.only=[]")
    for name in ("staff", "Staff", "hardware_maintenance", "support", "property-tax"):
        found = refused(f"comparison.lines=[{{id: {name}, usd_per_month: 1}}]")
        assert found.startswith("DC011"), name
        assert "has the name of a line that dcplan computes" in found
    assert "needs one of" in refused("comparison.lines=[{id: insurance}]")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("sites.dc.halls.a.pue=50", "must be between 1 and 10, got 50"),
        ("sites.dc.energy.usd_per_kwh=10.1", "must be between 0 and 10 USD/kWh, got 10.1"),
        ("sites.dc.energy={tiers: [{usd_per_kwh: 11}]}", "must be between 0 and 10 USD/kWh"),
        (
            "cloud.prices.aws-p5-48xlarge.on_demand_usd_per_h=1e9",
            "must be above 0 and at most 10,000 USD per hour of an instance",
        ),
        (
            "comparison.lines=[{id: x, usd_per_accelerator_hour: 1e9}]",
            "must be between 0 and 1,000 USD per accelerator-hour",
        ),
    ],
)
def test_a_price_or_pue_out_of_range_is_refused(change: str, words: str) -> None:
    problems = refused(change)
    assert "DC004" in problems
    assert words in problems


def test_own_lines_by_hand() -> None:
    """1,000 once, 36 x 50 a month, 36 x 730 h x 8 x 0.01 USD an accelerator-hour."""
    own = "{id: insurance, usd: 1000, usd_per_month: 50, usd_per_accelerator_hour: 0.01}"
    found = answer(f"comparison.lines=[{own}]")
    assert lines(found)["insurance"] == pytest.approx(1000 + 36 * 50 + 36 * 730 * 8 * 0.01)
    text = " ".join(str(w["message"]) for w in found.warnings)
    assert "insurance is already inside finance/fixed-opex-usd-per-kw-year" in text
    out = answer(f"comparison.lines=[{own}]", "comparison.leave_out=[insurance, facility]")
    assert "insurance" not in lines(out)
    assert "already inside" not in " ".join(str(w["message"]) for w in out.warnings)


def test_an_own_line_counts_units_and_bears_a_share() -> None:
    """1,000 square feet at 875 USD, of which electrical work is 42.5 %: 371,875 USD once."""
    own = "{id: electrical, usd: 875, units: 1000, share_frac: 0.425}"
    assert lines(answer(f"comparison.lines=[{own}]"))["electrical"] == pytest.approx(371_875)
    monthly = "{id: electrical, usd_per_month: 10, units: 3}"
    assert lines(answer(f"comparison.lines=[{monthly}]"))["electrical"] == pytest.approx(36 * 30)


def test_the_energy_of_a_site_is_its_power_and_hours() -> None:
    """8 x 0.95 kW at half use are 3.8 kW, at a PUE of 1.2 4.56 kW, and 12 x 730 h of it a year."""
    change = ("comparison.average_accelerator_kw=0.95", "fleet.utilization_frac=0.5")
    found = row(answer(*change), "energy", "dc")
    assert found["it_kw"] == pytest.approx(3.8)
    assert found["facility_kw"] == pytest.approx(4.56)
    assert found["overhead_kw"] == pytest.approx(0.76)
    assert found["facility_kwh_per_year"] == pytest.approx(4.56 * 12 * 730)


def test_the_energy_of_a_plan_is_the_energy_that_is_billed() -> None:
    """Without own power the bill is the plan's: kWh a year x 3 years x 0.08 USD."""
    found = answer("comparison.hours_per_month=null")
    kwh = row(found, "energy", "dc")["facility_kwh_per_year"]
    assert lines(found)["energy"] == pytest.approx(kwh * 3 * 0.08)


def test_an_overlay_value_inside_a_lump_gives_a_note() -> None:
    part = "prices.facility-maintenance-usd-per-kw-year.value=10"
    tax = "finance.tax.property_tax_frac_per_year=0.01"
    found = [str(w["message"]) for w in answer(part, tax).warnings if "inside" in str(w["message"])]
    assert len(found) == 1  # the lump has the property tax of the facility, not that of racks
    assert "has no effect" in found[0]
    assert "facility-maintenance" in found[0]
    staffed = answer(part, "sites.dc.staff.people=1")
    assert not [w for w in staffed.warnings if "inside" in str(w["message"])]


def test_a_plan_refuses_conventions_of_a_comparison() -> None:
    with pytest.raises(InputError, match="a plan does not use them"):
        plan(FILE)


def test_the_tax_table_adds_up_to_the_income_tax_line() -> None:
    """MACRS: 20 % of 290,000 in the first year (IRS Publication 946, table A-1); book: a fifth."""
    found = answer(
        "comparison.only=[racks, energy]",
        "finance.tax={income_rate: 0.25, depreciation: macrs-5}",
        "finance.debt={share: 0.5, rate: 0.12, term_years: 3}",
    )
    years = found.tables["taxes"].records()
    assert years[0]["tax_depreciation_usd"] == pytest.approx(0.20 * NODE_USD)
    assert years[1]["tax_depreciation_usd"] == pytest.approx(0.32 * NODE_USD)
    assert years[0]["book_depreciation_usd"] == pytest.approx(NODE_USD / 5)
    assert years[2]["book_value_usd"] == pytest.approx(NODE_USD * 2 / 5)
    # 0.5 x 290,000 at 1 % a month: the first interest is 1,450; a level payment repays it in 36
    assert 0 < float(str(years[2]["interest_usd"])) < float(str(years[0]["interest_usd"])) < 17_400
    for year in years:
        parts = [
            float(str(year[x]))
            for x in ("running_cost_usd", "tax_depreciation_usd", "interest_usd")
        ]
        taxable = float(str(year["disposal_usd"])) - sum(parts)
        assert year["taxable_usd"] == pytest.approx(taxable)
        assert year["income_tax_usd"] == pytest.approx(0.25 * taxable)
    # the line has the tax before interest
    interest = sum(float(str(y["interest_usd"])) for y in years)
    tax = sum(float(str(y["income_tax_usd"])) for y in years)
    assert lines(found)["income tax"] == pytest.approx(tax + 0.25 * interest)


def test_break_even_by_cash_ignores_resale_and_discounting() -> None:
    """Lenovo LP2225: 833,806 / (98.32 - 0.87) = 8,556 h = 11.88 months of 720 h."""
    found = answer(variant="break-even-lenovo")
    hours = 833_806 / (98.32 - 0.87)
    assert value(found, f"break_even.{RENT}.hours") == pytest.approx(hours)
    assert value(found, f"break_even.{RENT}.cash_months") == pytest.approx(hours / 720)
    resold = answer("comparison.only=[racks, accelerators, residual]", "finance.discount_rate=0.1")
    plain = answer("comparison.only=[racks, accelerators]", "finance.discount_rate=0.1")
    key = f"break_even.{RENT}."
    assert value(resold, f"{key}months") < value(plain, f"{key}months")
    assert value(resold, f"{key}cash_months") == value(plain, f"{key}cash_months")
    assert value(plain, f"{key}cash_months") < value(plain, f"{key}months")


def test_bills_are_compared_with_the_lowest() -> None:
    """ClusterMAX: 6,989,395 a month is 1,450,257 above 5,539,138, and 1.26 times as much."""
    found = answer(variant="cluster-rents")
    high = row(found, "bills", RENT)
    low = row(found, "bills", "coreweave-h100.on-demand")
    assert low["usd_per_month"] == pytest.approx(5_539_138, abs=1)
    assert high["above_cheapest_usd_per_month"] == pytest.approx(1_450_257, abs=1)
    assert high["over_cheapest_ratio"] == pytest.approx(1.2618, abs=5e-5)


def test_the_mean_of_three_point_lines_is_the_triangular_mean() -> None:
    """GAO-20-195G, table 12: (low + likely + high) / 3 of each line sum to 82.244 M USD."""
    bounds = [
        (17.955, 19.645, 21.785), (8.5, 10.553, 13.0), (4.0, 4.306, 5.1), (4.1, 4.305, 4.65),
        (0.55, 0.6, 0.65), (32.3, 35.547, 52.5), (1.95, 2.136, 2.6),
    ]  # fmt: skip
    found = answer(variant="program")
    assert row(found, "risk", "owned")["mean_usd"] == pytest.approx(
        1e6 * sum(sum(x) / 3 for x in bounds), rel=1e-3
    )


def test_a_fleet_without_a_utilization_works_all_hours_on_both_sides() -> None:
    """Rent is paid for all hours then, so the owned side has the energy of all hours, too."""
    bare = "fleet={system: dgx-h200, accelerators: 1024}"
    silent, said = (
        tco("own-or-rent-1024-h200", sets=list(sets))
        for sets in ((bare,), ("fleet.utilization_frac=1",))
    )
    assert silent.metrics == said.metrics
    for name in ("rented", "npv_by_line", "lines", "years"):
        assert silent.tables[name] == said.tables[name]
    prices = {row["key"]: row["status"] for row in silent.inputs}
    assert prices["fleet.utilization_frac"] == "default"


def test_a_mix_has_no_name_of_a_term() -> None:
    """It would replace the term in the tables and in the headline."""
    assert "DC011 on-demand is the name of a term" in refused(
        "comparison.mixes=[{id: on-demand, shares: {reserved-3y: 0.5}}]"
    )


def test_check_accepts_what_tco_accepts() -> None:
    assert check(ScenarioRef(FILE)).exit_code == 0


def test_the_lines_of_the_owned_side_add_up_to_the_headline_with_debt() -> None:
    """Debt has lines of its own; the totals are those of the metric and of the payments by year."""
    found = tco("own-or-rent-1024-h200")
    rows = [r for r in found.tables["lines"].records() if r["side"] == "owned"]
    total = rows.pop()
    assert total["line"] == "total"
    for column in ("usd", "npv_usd"):
        assert sum(float(str(r[column])) for r in rows) == pytest.approx(float(str(total[column])))
    assert total["npv_usd"] == pytest.approx(value(found, "owned.npv_usd"))
    years = found.tables["years"].records()[-1]
    assert total["usd"] == pytest.approx(years["owned_usd"])
    pair = found.tables["npv_by_line"].records()[-1]
    assert next(x for x in pair.values() if isinstance(x, float)) == pytest.approx(
        value(found, "owned.npv_usd")
    )
    assert {"debt service less payout", "income tax saved by interest"} <= {r["line"] for r in rows}


def test_power_above_the_rating_is_noted() -> None:
    """A DGX H100 is rated at about 10 kW for 8 accelerators: 1.3 kW each."""

    def noted(kw: float) -> bool:
        found = answer(f"comparison.average_accelerator_kw={kw}")
        return any("check the unit" in w["message"] for w in found.warnings)

    assert noted(1e6)
    assert not noted(0.7)


LEASE_OR_BUY = (
    "horizon.quarters=12",
    "finance={discount_rate: 0.1, residual: none, hardware_life_years: 5, "
    "tax: {income_rate: 0.25, depreciation: straight-line-5}}",
    "cloud.prices.aws-p5-48xlarge.on_demand_usd_per_h=30",
    "comparison.hours_per_month=730",
)
"""A server of 290,000 USD for 36 months at 10 % and a tax rate of 25 %, paid at the end of each year."""


def by_month(rate: float, usd: float, first: int = 0) -> float:
    """Present value of a payment in the middle of each month of three years, from one on."""
    return sum(usd * (1.0 + rate) ** (-(m + 0.5) / 12) for m in range(first, 36))


def by_year(rate: float, usd: list[float]) -> float:
    """Present value of payments in the last month of each year."""
    return sum(x * (1.0 + rate) ** (-(12 * y + 11.5) / 12) for y, x in enumerate(usd))


def test_lease_or_buy_by_hand() -> None:
    """Cash, a loan of the whole price at 7 %, an operating lease of 9,500 a month, and rent.

    Bought: price at once, a fifth of it written off each year, the rest in the third. Loan: 35 level
    payments from the second month on; the balance with half a month of interest at the end. Lease
    and rent are costs of their months.
    """
    p, r, tax, i = float(NODE_USD), 0.1, 0.25, 0.07 / 12
    bought = p * (1 + r) ** (-0.5 / 12) - tax * by_year(r, [p / 5, p / 5, 3 * p / 5])
    pay = p * i / (1 - (1 + i) ** -36)
    owed, interest = p, [0.0] * 36
    for m in range(1, 36):
        interest[m] = owed * i
        owed += interest[m] - pay
    loan = bought - p * (1 + r) ** (-0.5 / 12) + by_month(r, pay, 1)
    loan += owed * (1 + i) ** 0.5 * (1 + r) ** -3
    loan -= tax * by_year(r, [sum(interest[a : a + 12]) for a in (0, 12, 24)])
    lease = by_month(r, 9_500) - tax * by_year(r, [12 * 9_500] * 3)
    rent = by_month(r, 30 * 730) - tax * by_year(r, [12 * 30 * 730] * 3)
    full = ("fleet.utilization_frac=1", *LEASE_OR_BUY)
    debt = "finance.debt={share: 1, rate: 0.07, term_years: 3}"
    racks = "comparison.only=[racks, accelerators]"
    own = "comparison.lines=[{id: server-lease, usd_per_month: 9500}]"
    leased = "comparison.only=[server-lease, accelerators]"
    for sets, usd in (((racks,), bought), ((racks, debt), loan), ((own, leased), lease)):
        found = answer(*full, *sets)
        assert value(found, "owned.npv_usd") == pytest.approx(usd, rel=1e-9)
        assert value(found, f"rented.{RENT}.npv_usd") == pytest.approx(rent, rel=1e-9)

"""A fact is an expression that gives the plan's number, or frozen for a declared reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, replace

import pytest

from dcplan.errors import AuditError
from dcplan.inputs.log import Input
from dcplan.planning.problem.terms import HallTerms, SiteTerms
from dcplan.report.book.data.facts import Facts, Frozen, Place
from dcplan.report.book.data.hardware import hall_facts
from dcplan.report.book.data.sites import site_facts
from tests.planning.tiny import tiny_menu
from tests.report.books import planned_with_facts

HALL = ("a/b", "", "")


def facts_with(values: Mapping[str, float | str]) -> Facts:
    """Return the facts of a plan that used these inputs."""
    return Facts(
        {k: Input(k, x, None, None, "", "input", None, None, None) for k, x in values.items()}
    )


def found(facts: Facts) -> dict[str, tuple[object, object]]:
    """Value, and formula or reason, of facts by name; those by quarter are numbered."""
    result = {}
    for name, place, cooling, item, quarter, value, _, formula in map(astuple, facts.rows):
        at = (name, place, cooling, item, quarter)
        label = str(name) if quarter is None else f"{name}[{quarter}]"
        result[label] = (value, formula or facts.frozen[at])
    return result


def test_a_formula_that_gives_another_number_is_a_bug() -> None:
    facts = facts_with({"systems.x.price_usd": 300.0})
    at = Place(facts, HALL)
    nodes = at.write("nodes", "", 4.0, Frozen.COUNTED)
    price = nodes * facts.input("systems.x.price_usd")
    at.write("price_usd", "USD", 1200.0 * (1 + 1e-14), price)
    with pytest.raises(
        AuditError, match=r"1200\.0.*the plan has 1200\.1.*\{nodes\} \* \[systems\.x"
    ):
        at.write("price_usd", "USD", 1200.1, price)


@pytest.mark.parametrize("reason", [Frozen.NOT_GIVEN, Frozen.NOT_PAID, Frozen.PASSIVE])
def test_what_is_said_to_be_nothing_is_nothing(reason: Frozen) -> None:
    at = Place(facts_with({}), HALL)
    at.write("usd", "USD", 0.0, reason)
    with pytest.raises(AuditError, match=reason.value):
        at.write("usd", "USD", 1e-9, reason)


def test_a_formula_over_what_the_plan_did_not_use_is_a_bug() -> None:
    facts = facts_with({"finance.residual": "mid", "a.kw": 1.0, "b.kw": 2.0})
    with pytest.raises(AuditError, match=r"a\.usd or b\.usd, which the plan did not use"):
        facts.input("a.usd", "b.usd")
    with pytest.raises(AuditError, match=r"finance\.residual"):
        facts.input("finance.residual")
    assert facts.input("c.kw", "b.kw", "a.kw").text() == "[b.kw]"
    assert facts.live == {"b.kw"}
    assert facts.given("c.kw") is Frozen.NOT_GIVEN


SITE = SiteTerms(
    id="s",
    utility_mw=(5.0,) * 5,
    usd_per_kwh=(0.05, 0.06, 0.07, 0.08, 0.09),
    demand_usd_per_kw_month=0.0,
    minimum_take_frac=0.0,
    grid_g_per_kwh=300.0,
    max_t_per_year=None,
    max_l_per_year=None,
    redundancy="n",
    block_mw=2.0,
    block_usd=2.0 * 1000 * 900,
    lease_usd_per_kw_month=None,
    staff_usd_per_quarter=0.0,
    opex_usd_per_kw_quarter=318.0 / 4,
)
FINANCE = tiny_menu(0).finance
COMMON = {
    "sites.s.carbon.grid_g_per_kwh": 300.0,
    "power.block-mw-default": 2.0,
    "sites.s.power.usd_per_kw": 900.0,
}


def test_a_tariff_by_quarter_is_frozen_and_says_so() -> None:
    tariffs = {f"sites.s.energy.usd_per_kwh[{t}]": x for t, x in enumerate(SITE.usd_per_kwh)}
    fixed = {"finance.fixed-opex-usd-per-kw-year": 318.0}
    facts = facts_with(COMMON | tariffs | fixed)
    site_facts(facts, SITE, FINANCE, 5)
    rows = found(facts)
    assert [rows[f"usd_per_kwh[{t}]"] for t in (0, 4)] == [
        (0.05, Frozen.BY_QUARTER),
        (0.09, Frozen.BY_QUARTER),
    ]
    assert rows["block_usd"] == (1.8e6, "[sites.s.power.usd_per_kw] * {block_mw} * 1000")
    assert rows["opex_usd_per_kw"] == (79.5, "[finance.fixed-opex-usd-per-kw-year] / 4")
    assert rows["staff_usd"] == (0.0, Frozen.NOT_GIVEN)
    assert rows["lease_usd_per_kw_month[4]"] == (0.0, Frozen.NOT_GIVEN)
    assert rows["utility_mw[0]"] == (5.0, Frozen.CAPACITY)


def test_a_lease_rises_each_year_and_pays_for_the_upkeep() -> None:
    """200 USD a kW and month, 3 % more after four quarters; 6 people at 250,000 USD a year."""
    site = replace(
        SITE,
        lease_usd_per_kw_month=(200.0,) * 4 + (206.0,),
        staff_usd_per_quarter=375_000.0,
        opex_usd_per_kw_quarter=0.0,
    )
    given = {
        "sites.s.energy.usd_per_kwh": 0.05,
        "sites.s.lease.usd_per_kw_month": 200.0,
        "finance.lease-escalator-frac-per-year": 0.03,
        "sites.s.staff.people": 6.0,
        "sites.s.staff.usd_per_person_year": 250_000.0,
    }
    facts = facts_with(COMMON | given)
    site_facts(facts, replace(site, usd_per_kwh=(0.05,) * 5), FINANCE, 5)
    rows = found(facts)
    rise = "POWER(1 + [finance.lease-escalator-frac-per-year], 1)"
    text = f"[sites.s.lease.usd_per_kw_month] * {rise}"
    assert rows["lease_usd_per_kw_month[4]"] == (206.0, text)
    pay = "[sites.s.staff.people] * [sites.s.staff.usd_per_person_year] / 4"
    assert rows["staff_usd"] == (375_000.0, pay)
    assert rows["opex_usd_per_kw"] == (0.0, Frozen.NOT_PAID)
    assert rows["usd_per_kwh[4]"] == (0.05, "[sites.s.energy.usd_per_kwh]")


@pytest.mark.parametrize(
    ("given", "blocks", "usd", "kw"),
    [
        ({"kw": 3.0, "price_usd": 200.0}, 5.0, "{storage_blocks} * [%s.price_usd]", "live"),
        ({"kw": 3.0}, 5.0, Frozen.CLASS_VALUE, "live"),
        ({"kw": 3.0, "price_usd": 0.0}, 5.0, "{storage_blocks} * [%s.price_usd]", "live"),
        ({}, 0.0, Frozen.CLASS_VALUE, Frozen.CLASS_VALUE),
    ],
)
def test_storage_is_priced_by_the_block_where_the_tier_has_a_price(
    given: dict[str, float], blocks: float, usd: str, kw: str
) -> None:
    tier = "storage_tiers.t"
    facts = facts_with({f"{tier}.{k}": x for k, x in {"usable_tb": 100.0, **given}.items()})
    bought = 5.0 * given.get("price_usd", 7.0)
    hall = HallTerms(
        *("s/h", "s", "h", 1, 1, 1.0, False, 0, True, ()), storage_kw=15.0, storage_usd=bought
    )
    hall_facts(facts, hall, [], ())
    each = f"{{storage_blocks}} * [{tier}.kw]"
    assert found(facts) == {
        "storage_blocks": (blocks, Frozen.COUNTED),
        "storage_usd": (bought, usd.replace("%s", tier) if usd is not Frozen.CLASS_VALUE else usd),
        "storage_kw": (15.0, each if kw == "live" else kw),
    }


def test_inputs_that_decide_more_than_their_formulas_are_not_edited() -> None:
    """Quotes replace the price, and plants on the site run by the tariff."""
    plant = "[{id: reciprocating-engine-gas, max_mw: 80, lead_quarters: 0}]"
    sets = [
        "supply=[{system: gb200-nvl72, price_usd: [3e6, 2.9e6, 2.8e6, 2.7e6]}]",
        "systems=[gb200-nvl72]",
        f"sites.ashburn.onsite={plant}",
    ]
    live = planned_with_facts("train-405b-in-90-days", sets)[1].live
    assert live["systems.gb200-nvl72.price_usd"] is Frozen.QUOTED
    assert live["sites.ashburn.energy.usd_per_kwh"] is Frozen.ON_SITE
    assert live["systems.gb200-nvl72.rated_kw"] is Frozen.CAPACITY
    assert live["systems.gb200-nvl72.peak_kw"] == "systems.gb200-nvl72.peak_kw"

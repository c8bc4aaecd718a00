"""Sales and property tax by site in the answer: tables, notes, the choice of a site, refused fields."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dcplan
from dcplan.answers.plan.answer import plan
from dcplan.economics.cash_flow import EQUIPMENT
from dcplan.errors import InputError
from dcplan.planning.audit.facts import differences
from dcplan.planning.problem.build import build
from dcplan.result import Result
from dcplan.scenario.load import load
from tests.answers.test_choice_of_sites import HALL, scenario

NAMES = ("columbus", "abilene")
SMALL = "workloads.capacity.research.pflops_delivered=[0, 20, 30, 30]"
LAND = {"land_property_tax_frac_per_year": 0.01}


def taxed(folder: Path, tax: dict[str, float], **more: Any) -> str:
    """Two equal sites, of which one is to be chosen; abilene has taxes of its own."""
    one = {"location": "us-columbus", "utility_mw": 3, "halls": [HALL]}
    one["energy"] = {"usd_per_kwh": 0.1}
    sites = [{"id": "columbus", **one}, {"id": "abilene", "tax": tax, **one}]
    general = {"sales_tax_frac": 0.06, "property_tax_frac_per_year": 0.012}
    given: dict[str, Any] = {
        "sites_max": 1,
        "objective": "min_after_tax_cost",
        "finance": {"tax": {"income_rate": 0.25, **general}},
    }
    return scenario(folder, NAMES, sites=sites, **(given | more))


def used(result: Result) -> str:
    rows = result.frame("sites").set_index("site")
    (name,) = rows.index[rows["chosen"]]
    return str(name)


def test_the_site_with_the_lower_rate_is_chosen_and_rates_of_all_fill_the_gaps(
    tmp_path: Path,
) -> None:
    """Only sales tax differs: 5.9 % at abilene is below the 6 % of all sites, 6.1 % above."""
    file = taxed(tmp_path, {"sales_tax_frac": 0.059})
    found = dcplan.plan(file, sets=[SMALL], gap=1e-6)
    assert used(found) == "abilene"
    more = dcplan.plan(file, sets=[SMALL, "sites.abilene.tax.sales_tax_frac=0.061"], gap=1e-6)
    assert used(more) == "columbus"
    rows = found.frame("sites").set_index("site")
    assert rows["sales_tax_frac"].to_dict() == {"columbus": 0.06, "abilene": 0.059}
    assert (rows["property_tax_frac_per_year"] == 0.012).all()


def test_the_tax_of_a_plan_at_both_sites_is_that_of_each_purchase(tmp_path: Path) -> None:
    """Sales tax is due with the purchase in the first month of its quarter, 1.1^-((3 t + 1/2) / 12)."""
    file = taxed(tmp_path, {"sales_tax_frac": 0.01}, sites_min=2, sites_max=2)
    found = dcplan.plan(file, gap=1e-4)
    rate, flows = {"columbus": 0.06, "abilene": 0.01}, found.frame("flows")
    bought = flows[flows["asset"].isin({str(x) for x in EQUIPMENT}) & (flows["group"] == "capex")]
    assert set(bought["site"]) == set(rate)
    at = {f"2027-Q{t + 1}": 1.1 ** (-(3 * t + 0.5) / 12) for t in range(4)}
    tax = sum(rate[x.site] * x.usd * at[x.quarter] for x in bought.itertuples())
    steps = found.frame("financing").set_index("step")["usd"]
    assert steps["sales tax"] == pytest.approx(tax, rel=1e-12)
    assert steps["cost.after_tax_npv_usd"] == pytest.approx(
        found.value("cost.after_tax_npv_usd"), rel=1e-12
    )
    assert (found.frame("statements")["difference_usd"] == 0.0).all()
    borne = found.frame("workload_costs")["after_tax_usd"].sum()
    assert borne == pytest.approx(found.value("cost.after_tax_npv_usd"), rel=1e-9)


def test_taxes_of_one_site_are_taxes(tmp_path: Path) -> None:
    """Without finance.tax the metric after taxes is there, and only the site with taxes bears them."""
    file = taxed(tmp_path, {"sales_tax_frac": 0.05}, finance={})
    found = dcplan.plan(file, sets=[SMALL], gap=1e-6)
    assert used(found) == "columbus"
    assert "sales tax" not in set(found.frame("financing")["step"])


def test_the_tax_on_land_of_a_site_counts_in_every_objective(tmp_path: Path) -> None:
    """USD 8 M at 1 % cost 20,000 a quarter at columbus; a rate of 3 % at abilene costs 60,000."""
    land = {f"sites.{name}.land_usd": 8e6 for name in NAMES}
    sets = [SMALL, *(f"{key}={usd}" for key, usd in land.items()), "objective=min_cost"]
    file = taxed(tmp_path, {"land_property_tax_frac_per_year": 0.03}, finance={"tax": LAND})
    found = dcplan.plan(file, sets=sets, gap=1e-6)
    rows = found.frame("sites").set_index("site")
    assert rows["land_tax_usd_per_year"].to_dict() == {"columbus": 80e3, "abilene": 240e3}
    assert used(found) == "columbus"
    low = "sites.abilene.tax.land_property_tax_frac_per_year=0.009"
    assert used(dcplan.plan(file, sets=[*sets, low], gap=1e-6)) == "abilene"


@pytest.mark.parametrize(
    ("tax", "words"),
    [
        (
            {"income_rate": 0.2},
            "income_rate by site is not supported.*give finance.tax.income_rate",
        ),
        ({"depreciation": "macrs-5"}, "depreciation by site is not supported"),
        ({}, "an empty tax has no effect"),
        ({"sales_tax_frac": 1.2}, "must be a fraction"),
        ({"sale_tax_frac": 0.1}, "unknown field"),
        (LAND, "abilene: the property tax on land has nothing to tax without land_usd"),
    ],
)
def test_a_wrong_tax_of_a_site_is_refused(tmp_path: Path, tax: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        plan(scenario=taxed(tmp_path, tax))


def test_land_without_any_rate_names_both_places_of_a_rate(tmp_path: Path) -> None:
    file = taxed(tmp_path, {"sales_tax_frac": 0.01})
    with pytest.raises(InputError, match=r"or sites\.columbus\.tax\.land_property_tax"):
        plan(scenario=file, sets=["sites.columbus.land_usd=1e6"])


def test_the_comparison_of_sites_counts_their_taxes(tmp_path: Path) -> None:
    """Equal sites: the change is the present cost of what differs, 6 % less 1 % of sales tax."""
    file = taxed(tmp_path, {"sales_tax_frac": 0.01})
    found = dcplan.plan(file, sets=[SMALL], compare_sites=True, gap=1e-6)
    other = dcplan.plan(file, sets=[SMALL, "sites.abilene.tax=null"], gap=1e-6)
    row = found.frame("sites").set_index("site").loc["columbus"]
    key = "cost.after_tax_npv_usd"
    assert row["change_usd"] == pytest.approx(other.value(key) - found.value(key), rel=1e-5)
    assert row["capex_change_usd"] == pytest.approx(row["change_usd"], rel=1e-4)


def test_the_note_on_untaxed_plants_reads_the_rates_of_the_site(tmp_path: Path) -> None:
    none = {"property_tax_frac_per_year": 0.0, "sales_tax_frac": 0.0}
    found = plan(scenario=taxed(tmp_path, none), sets=[SMALL])
    said = "not on building"
    assert used(found) == "abilene"
    assert not any(said in str(note) for note in found.warnings)
    more = ("sites.abilene.tax.property_tax_frac_per_year=0.001",)
    again = plan(scenario=taxed(tmp_path, none), sets=(SMALL, *more))
    assert any(said in str(note) for note in again.warnings)


def test_the_audit_reads_each_rate_from_the_scenario_again(tmp_path: Path) -> None:
    question = load(
        taxed(tmp_path, {"sales_tax_frac": 0.01, "cooling_property_tax_frac_per_year": 0.002})
    )
    problem = build(question).problem
    assert differences(problem, question, []) == []
    terms = problem.finance.financing
    assert terms is not None
    (own,) = terms.site_taxes
    wrong = replace(own, sales_tax_frac=0.02, plant_taxes=())
    finance = replace(problem.finance, financing=replace(terms, site_taxes=(wrong,)))
    site = replace(problem.sites[0], land_tax_usd_per_quarter=5.0)
    found = replace(problem, finance=finance, sites=(site, *problem.sites[1:]))
    assert differences(found, question, []) == [
        "columbus tax on land: plan 5, scenario 0",
        "abilene sales_tax_frac: plan 0.02, scenario 0.01",
        "abilene cooling_property_tax_frac_per_year: plan 0, scenario 0.002",
    ]

"""Committed terms of rented nodes: enumeration, hand calculation, audit, scenario reading."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

import pytest

from dcplan.economics.cash_flow import AssetClass, npv_usd, totals_usd
from dcplan.errors import InputError
from dcplan.fabric.effective import LinkSpeed
from dcplan.inputs.cloud_prices import CommitTerms
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.checks import all_checks
from dcplan.planning.decision_specs import COMMITTED
from dcplan.planning.decision_table import columns_of, to_table
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.build import build
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.terms import JobTerms, RunOption
from dcplan.scenario.load import load
from tests.planning.optimum import best_plan
from tests.planning.small import small_menu

HOURS = 2191.5
NODE = 8


def rented_menu(
    wanted: tuple[float, ...], quarters_of_term: int = 2, price: float = 2.0
) -> PlanningProblem:
    """Research on rented accelerators alone: 0.2 PFLOP/s each, 3 USD/h on demand, a term at
    ``price``."""
    problem, n = small_menu(), len(wanted)
    term = CommitTerms("reserved-1y", quarters_of_term, (price,) * n)
    offer = dataclasses.replace(
        problem.offers[0], usd_per_accelerator_hour=(3.0,) * n, committed=(term,)
    )
    demand = dataclasses.replace(problem.demands[0], wanted=wanted, each={("cloud:o", "chip"): 0.2})
    site = dataclasses.replace(problem.sites[0], utility_mw=(0.4,) * n, usd_per_kwh=(0.08,) * n)
    keep = (0.5,) * n
    money = dataclasses.replace(
        problem.finance,
        budget_usd=None,
        hardware_residual_frac=keep,
        building_residual_frac=keep,
        power_residual_frac=keep,
        cooling_residual_frac=keep,
    )
    return dataclasses.replace(
        problem,
        quarters=n,
        sites=(site,),
        placements=(),
        fabrics=(),
        jobs=(),
        run_options=(),
        demands=(demand,),
        offers=(offer,),
        supply=(),
        finance=money,
        orderable=frozenset(),
    )


def best(problem: PlanningProblem) -> tuple[Decisions, float]:
    decisions, cost_musd = best_plan(problem)
    return decisions, cost_musd * 1e6


def cheapest(problem: PlanningProblem, most: int) -> float:
    """Enumerate nodes begun in each quarter; use above them at the price on demand, the term's end
    paid too."""
    term, n = problem.offers[0].committed[0], problem.quarters
    use = [x / 0.2 for x in problem.demands[0].wanted]
    factor = [1.1 ** -((t + 0.5) / 4) for t in range(n + term.quarters)]
    found = []
    for begun in itertools.product(range(most + 1), repeat=n):
        existing = [
            NODE * sum(b for q, b in enumerate(begun) if q <= t < q + term.quarters)
            for t in range(n + 12)
        ]
        if max(existing) > problem.offers[0].max_accelerators:
            continue
        cost = sum(factor[t] * 3.0 * HOURS * max(use[t] - existing[t], 0.0) for t in range(n))
        price = term.usd_per_accelerator_hour[0]
        cost += sum(factor[t] * price * HOURS * existing[t] for t in range(n + term.quarters - 1))
        found.append(cost)
    return min(found)


@pytest.mark.parametrize(
    ("wanted", "length", "price"),
    [
        ((4.0, 4.0, 4.0), 2, 2.0),
        ((1.0, 5.0, 2.0), 2, 2.4),
        ((5.0, 0.5, 5.0), 2, 1.4),
        ((3.0, 3.0, 3.0), 4, 1.9),
        ((2.0, 4.0, 6.0), 2, 2.95),
        ((6.0, 6.0, 0.0), 3, 1.0),
    ],
)
def test_optimum_equals_enumeration(wanted: tuple[float, ...], length: int, price: float) -> None:
    problem = rented_menu(wanted, length, price)
    d, cost = best(problem)
    assert cost == pytest.approx(cheapest(problem, 5), rel=1e-9)
    books = make_accounts(problem, d)
    assert npv_usd(books.flows, 0.1) == pytest.approx(cost, rel=1e-9)
    assert [c.name for c in all_checks(problem, d, books) if not c.holds] == []


def test_a_commitment_is_paid_used_or_not_and_after_the_end() -> None:
    """One node of 8 at 2 USD/h over 2 quarters from the last one: a quarter inside, one after it:
    8 x 2 x 2191.5."""
    problem = rented_menu((0.0, 0.8))  # 4 accelerators in the last quarter
    d = Decisions(rented={("research", "o", 1): 4.0}, committed={("o", "reserved-1y", 1): 1})
    totals = totals_usd(make_accounts(problem, d).flows)
    assert totals["cloud"] == pytest.approx(8 * 2 * HOURS)
    assert totals["post_horizon"] == pytest.approx(8 * 2 * HOURS)
    assert totals["residual"] == 0.0


def test_the_payment_of_a_commitment_has_its_hours_and_the_used_ones() -> None:
    """A node of 8 from the second quarter on; 4 in use in the first quarter, 6 in the second: 4
    accelerators on demand for a quarter, then 8 committed, 6 used; none after the horizon."""
    problem = rented_menu((0.8, 1.2))
    rented = {("research", "o", 0): 4.0, ("research", "o", 1): 6.0}
    d = Decisions(rented=rented, committed={("o", "reserved-1y", 1): 1})
    goods = {f.quarter: f.goods for f in make_accounts(problem, d).flows if f.offer}
    asked = {t: (g.quantity, g.used, g.serves_from) for t, g in goods.items() if g is not None}
    assert asked == {
        0: (pytest.approx(4 * HOURS), None, None),
        1: (pytest.approx(8 * HOURS), pytest.approx(6 * HOURS), 1),
        2: (pytest.approx(8 * HOURS), 0.0, 1),
    }


def test_a_run_is_covered_only_in_the_months_it_takes() -> None:
    """12 accelerators for half a month, 8 committed: 4 of 12 on demand; the other months'
    commitment is not used."""
    problem = rented_menu((0.0, 0.0))
    run = RunOption(
        "job",
        "cloud:o",
        "chip",
        "chip",
        12,
        LinkSpeed(0.0),
        "bf16",
        365.25 / 24,
        15.0,
        0,
        {},
        0.4,
        1.0,
    )
    problem = dataclasses.replace(
        problem, jobs=(JobTerms("job", 0, 182.625, None, 0.8, ("s",)),), run_options=(run,)
    )
    d = Decisions(runs=[run], committed={("o", "reserved-1y", 0): 1})
    flows = make_accounts(problem, d).flows
    on_demand = sum(f.usd for f in flows if f.line == "job on o")
    # average of the month: 6 accelerators, all covered by 8
    assert on_demand == pytest.approx(0.0, abs=1e-6)
    twice = dataclasses.replace(run, accelerators=24)
    flows = make_accounts(
        problem, Decisions(runs=[twice], committed={("o", "reserved-1y", 0): 1})
    ).flows
    # average 12: 4 beyond the 8, for 730.5 hours at 3 USD
    assert sum(f.usd for f in flows if f.line == "job on o") == pytest.approx(4 * 730.5 * 3.0)
    # the commitment covers 8 of them in one month of the quarter
    goods = [f.goods for f in flows if f.line == "o reserved-1y"]
    assert goods[0] is not None
    assert goods[0].used == pytest.approx(8 * 730.5)


def test_rent_for_a_demand_named_like_an_asset_class_is_no_asset() -> None:
    """2 accelerators on demand at 3 USD and 8 committed to at 2 USD, whatever the demand's id."""
    problem = rented_menu((10.0, 0.0))
    (demand,) = problem.demands
    problem = dataclasses.replace(problem, demands=(dataclasses.replace(demand, id="racks"),))
    d = Decisions(rented={("racks", "o", 0): 10.0}, committed={("o", "reserved-1y", 0): 1})
    flows = [f for f in make_accounts(problem, d).flows if f.quarter == 0 and f.usd]
    assert {(f.line, f.asset, f.offer, f.term) for f in flows} == {
        ("racks on o", AssetClass.OTHER, "o", "on-demand"),
        ("o reserved-1y", AssetClass.OTHER, "o", "reserved-1y"),
    }
    usd = {f.term: f.usd for f in flows}
    assert usd["on-demand"] == pytest.approx(2 * 3.0 * HOURS)
    assert usd["reserved-1y"] == pytest.approx(8 * 2.0 * HOURS)


def test_without_a_price_on_demand_use_stays_within_commitments() -> None:
    problem = rented_menu((1.0, 3.0))
    bound = dataclasses.replace(
        problem.offers[0], on_demand=False, usd_per_accelerator_hour=(0.0, 0.0)
    )
    problem = dataclasses.replace(problem, offers=(bound,))
    d, _ = best(problem)
    assert d.committed  # 5 and 15 accelerators: 1 node, then 2
    assert sum(d.committed.values()) == 2
    broken = Decisions(rented=d.rented)
    names = {
        c.name for c in all_checks(problem, broken, make_accounts(problem, broken)) if not c.holds
    }
    assert names == {"accelerators beyond commitments"}


def test_planted_faults_are_found_and_decisions_come_back() -> None:
    problem = rented_menu((4.0, 4.0))
    d, _ = best(problem)
    values, wrong = columns_of(problem, to_table(d))
    assert not wrong
    assert {k: v for k, v in values.items() if k.name == "committed"} == {
        COMMITTED.key("o", "reserved-1y", q): float(n) for (_, _, q), n in d.committed.items()
    }
    over = Decisions(rented=d.rented, committed={("o", "reserved-1y", 0): 9})
    names = {c.name for c in all_checks(problem, over, make_accounts(problem, over)) if not c.holds}
    assert names == {"committed accelerators"}


TEXT = """
dcplan: 1
name: terms
horizon: {start: 2027-Q1, quarters: 4}
sites:
  - id: ashburn
    location: us-ashburn
    utility_mw: 1
    halls: [{id: air, racks: 6, rack_kw_max: 40, it_mw: 0.2, cooling: [air-chiller]}]
systems: [dgx-h200]
fabrics: [ib-ndr-400]
workloads: {capacity: [{id: base, accelerator_hours: 1.0e5, utilization_frac: 1}]}
cloud:
  offers: [aws-p5en-48xlarge]
  terms: TERMS
  prices: {aws-p5en-48xlarge: {on_demand_usd_per_h: 64, reserved_3y_usd_per_h: 32}}
  price_change_frac_per_year: -0.1
"""


def test_terms_of_a_scenario_are_read_with_their_prices(tmp_path: Path) -> None:
    file = tmp_path / "terms.yaml"
    file.write_text(TEXT.replace("TERMS", "[on-demand, reserved-3y, spot]"), encoding="utf-8")
    problem = build(load(file)).problem
    offer = problem.offers[0]
    assert offer.on_demand
    assert offer.usd_per_accelerator_hour[0] == pytest.approx(8.0)
    (term,) = offer.committed
    assert (term.term, term.quarters) == ("reserved-3y", 12)
    assert term.usd_per_accelerator_hour == pytest.approx([4.0 * 0.9 ** (t / 4) for t in range(4)])
    spot = next(o for o in problem.offers if o.id == "aws-p5en-48xlarge/spot")
    assert (spot.term, spot.on_demand, spot.committed) == ("spot", True, ())
    # 0.125 reclaims of an instance in a month of 730.5 h
    assert spot.reclaims_per_instance_h == pytest.approx(0.125 / 730.5)
    file.write_text(TEXT.replace("TERMS", "[reserved-3y]"), encoding="utf-8")
    only = build(load(file)).problem.offers[0]
    assert (only.on_demand, only.usd_per_accelerator_hour[0]) == (False, 0.0)
    file.write_text(TEXT.replace("TERMS", "[reserved-1y]"), encoding="utf-8")
    assert [c.term for c in build(load(file)).problem.offers[0].committed] == [
        "reserved-1y"
    ]  # the catalog's price


def test_a_price_under_an_alias_counts_and_a_negative_one_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "alias.yaml"
    text = TEXT.replace("TERMS", "[on-demand]")
    file.write_text(
        text.replace("prices: {aws-p5en-48xlarge:", "prices: {p5en.48xlarge:"), encoding="utf-8"
    )
    assert build(load(file)).problem.offers[0].usd_per_accelerator_hour[0] == pytest.approx(8.0)
    file.write_text(
        text.replace("on_demand_usd_per_h: 64", "on_demand_usd_per_h: -64"), encoding="utf-8"
    )
    with pytest.raises(InputError) as error:
        load(file)
    assert "must be above 0" in error.value.problems[0].cause


def test_a_price_of_ones_own_leaves_the_offer_where_it_is(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(
        TEXT.replace("TERMS", "[on-demand]").replace("{id: base,", "{id: base, countries: [US],"),
        "utf-8",
    )
    problem = build(load(file)).problem
    assert problem.offers[0].region.startswith("us-")
    assert ("cloud:aws-p5en-48xlarge", "h200-sxm") in problem.demands[0].each

"""Interruptible tranches and plants on the site: what the plan buys and pauses, against hand
calculations."""

from __future__ import annotations

import dataclasses

import pytest

from dcplan.answers.plan.hedge.plans import MARGIN_FACTORS
from dcplan.economics.cash_flow import totals_usd
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.audit.checks import all_checks
from dcplan.planning.audit.onsite import carbon_t, interruptible_use_mw, redispatched
from dcplan.planning.audit.run import settled
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import PlanningProblem
from tests.planning.optimum import best_plan, optimum
from tests.planning.small import HALL, powered_menu

LAST = 1
HOURS = 2191.5


def best(problem: PlanningProblem) -> tuple[Decisions, float] | None:
    """The best plan with the smallest rounding margin that the audit passes, as `plan` looks for
    it."""
    for factor in MARGIN_FACTORS:
        outcome, found = optimum(dataclasses.replace(problem, margin_factor=factor))
        if found is None:
            return None
        d = settled(problem, found)
        if all(c.holds for c in all_checks(problem, d, make_accounts(problem, d))):
            return d, outcome.objective
    return None


def books_of(problem: PlanningProblem, d: Decisions) -> Accounts:
    books = make_accounts(problem, d)
    assert [c.name for c in all_checks(problem, d, books) if not c.holds] == []
    return books


def test_without_enough_power_of_any_kind_there_is_no_plan() -> None:
    """14 PFLOP/s at 0.5 of 700 TFLOP/s are 40 accelerators of b: 3 racks of 60 kW x PUE 1.2 to 1.5
    > 0.05 MW."""
    problem = powered_menu(0.05, 0.0)
    none = dataclasses.replace(
        problem, sites=(dataclasses.replace(problem.sites[0], onsite=(), tranches=()),)
    )
    assert best(none) is None


def test_plants_carry_what_the_grid_does_not() -> None:
    problem = powered_menu(0.1, 0.0)
    found = best(problem)
    assert found is not None
    d = found[0]
    books = books_of(problem, d)
    peak = books.site(problem, "s", LAST, "facility_mw")
    units = d.onsite["s", "engine", 0]
    # one spare: whole units of 50 kW above the firm 100 kW, and one more
    assert units == -(-round((peak - 0.1) * 1e6) // 50_000) + 1
    mwh = books.site(problem, "s", LAST, "facility_mwh")
    made = d.onsite_mwh.get(("s", "engine", LAST), 0.0)
    assert mwh - made <= 0.1 * HOURS * (1 + 1e-9)
    totals = totals_usd([f for f in books.flows if "engine" in f.line])
    assert totals["capex"] == pytest.approx(units * 60e3)
    assert totals["opex"] == pytest.approx(units * 500.0)
    assert totals["energy"] == pytest.approx(made * 90.0)


def test_fuel_that_is_cheaper_than_the_grid_runs_always() -> None:
    """8 cents from the grid, 5 from the engines: they make what their units without the spare can."""
    problem = powered_menu(0.1, 0.0)
    site = problem.sites[0]
    cheap = dataclasses.replace(
        site, onsite=(dataclasses.replace(site.onsite[0], usd_per_mwh=50.0),)
    )
    found = best(dataclasses.replace(problem, sites=(cheap,)))
    assert found is not None
    d = found[0]
    mwh = books_of(dataclasses.replace(problem, sites=(cheap,)), d).site(
        problem, "s", LAST, "facility_mwh"
    )
    most = (d.onsite["s", "engine", 0] - 1) * 0.05 * HOURS
    assert d.onsite_mwh["s", "engine", LAST] == pytest.approx(
        min(most, mwh), rel=0.03
    )  # shares of switches


def test_load_on_a_tranche_pauses_for_its_hours() -> None:
    """A tenth of the drawn MW rests on average: accelerators x rated kW x peak PUE."""
    problem = powered_menu(0.1, 0.3)
    problem = dataclasses.replace(
        problem, sites=(dataclasses.replace(problem.sites[0], onsite=()),)
    )
    found = best(problem)
    assert found is not None
    d = found[0]
    books = books_of(problem, d)
    load = [books.site(problem, "s", LAST, x) for x in ("facility_mw", "facility_mwh")]
    uses = interruptible_use_mw(d, problem.sites[0], *load, LAST)["flex"]
    assert uses > 0.05
    place = {p.key: p for p in problem.placements}
    peak_pue = {"dry": 1.5, "wet": 1.2}
    rests = sum(
        n * place[h, c, k].rated_kw / 16 * peak_pue[c] / 1000
        for (h, c, k, t), n in d.paused.items()
        if t == LAST
    )
    assert rests >= uses * 0.1 - 1e-9
    more = dataclasses.replace(
        problem.sites[0], tranches=(dataclasses.replace(problem.sites[0].tranches[0], mw=(0, 0.3)),)
    )
    seldom = dataclasses.replace(more.tranches[0], hours_per_year=1e-6)
    cheaper = best(
        dataclasses.replace(problem, sites=(dataclasses.replace(more, tranches=(seldom,)),))
    )
    assert cheaper is not None
    assert cheaper[1] <= found[1] + 1e-9


def test_only_racks_that_are_there_pause() -> None:
    """No demand can use b: nothing but racks of b limits what of b may rest. Half the year without
    the tranche takes more rest than 30 busy accelerators in two racks of a leave."""
    problem = powered_menu(0.05, 0.3, hours=4383.0)
    demand = problem.demands[0]
    own = {key: x for key, x in demand.each.items() if key[1] == "a"}
    problem = dataclasses.replace(
        problem,
        sites=(dataclasses.replace(problem.sites[0], onsite=()),),
        demands=(dataclasses.replace(demand, each=own, wanted=(0.0, 6.0)),),
    )
    d, _ = best_plan(problem)
    assert d.paused
    for (h, c, k, t), n in d.paused.items():
        assert n <= 16 * d.racks(problem, (h, c, k), t) + 1e-6


def test_a_tranche_supplies_what_plants_that_stand_still_do_not() -> None:
    """Firm 0.1 MW, one engine of two carries 0.05 MW. Peak 0.14 MW: the engine can carry 0.04 MW. Mean
    0.12 MW: without fuel the tranche supplies 0.02 MW, with 0.03 MW from the engine nothing."""
    site = powered_menu(0.1, 0.3).sites[0]
    units = {("s", "engine", 0): 2}
    mwh = 0.12 * HOURS
    still = Decisions(onsite=units)
    runs = Decisions(onsite=units, onsite_mwh={("s", "engine", LAST): 0.03 * HOURS})
    use = interruptible_use_mw(still, site, 0.14, mwh, LAST)
    assert use["flex"] == pytest.approx(0.02)
    assert interruptible_use_mw(runs, site, 0.14, mwh, LAST)["flex"] == 0.0
    assert interruptible_use_mw(runs, site, 0.19, mwh, LAST)["flex"] == pytest.approx(0.04)


def test_planted_faults_are_found() -> None:
    problem = powered_menu(0.1, 0.05)
    found = best(problem)
    assert found is not None
    for change, name in (
        (lambda d: d.onsite.clear(), "utility MW"),
        (lambda d: d.onsite_mwh.update({("s", "engine", LAST): 1e4}), "on-site energy MWh"),
        (lambda d: d.onsite_mw.update({("s", "engine", LAST): 1.0}), "on-site power MW"),
        (lambda d: d.onsite.update({("s", "engine", 0): 9}), "units of on-site plants"),
        (lambda d: d.paused.clear(), "paused load missing MW"),
        (lambda d: d.paused.update({(HALL, "wet", "b", LAST): 99.0}), "accelerators busy"),
        (lambda d: d.onsite_mwh.clear(), "grid MWh"),
        (
            lambda d: d.onsite_mwh.update({("s", "engine", LAST): 300.0}),
            "on-site energy beyond the load MWh",
        ),
    ):
        fresh = powered_menu(0.1, 0.05)
        if name == "grid MWh":
            fresh = powered_menu(0.09, 0.0)
        if name == "paused load missing MW":
            fresh = powered_menu(0.1, 0.3)
            fresh = dataclasses.replace(
                fresh, sites=(dataclasses.replace(fresh.sites[0], onsite=()),)
            )
        again = best(fresh)
        assert again is not None, name
        d = again[0]
        change(d)  # type: ignore[no-untyped-call]
        assert name in {
            c.name for c in all_checks(fresh, d, make_accounts(fresh, d)) if not c.holds
        }, name


def test_carbon_counts_stacks_instead_of_the_grid() -> None:
    """100 MWh at 300 g/kWh less 40 made at 450 g/kWh: 60 x 0.3 + 40 x 0.45 = 36 t."""
    d = Decisions(onsite_mwh={("s", "engine", LAST): 40.0})
    assert carbon_t(d, powered_menu(0.1, 0.0).sites[0], 100.0, LAST) == pytest.approx(36.0)


def test_no_new_block_serves_before_its_lead_time() -> None:
    problem = powered_menu(1.0, 0.0)
    late = dataclasses.replace(
        problem, sites=(dataclasses.replace(problem.sites[0], block_lead=2),)
    )
    assert best(problem) is not None
    assert best(late) is None


def test_plants_make_what_whole_switches_draw_above_the_models_count() -> None:
    """Without any grid the plants carry all: the energy is raised to the exact load, within what
    they can make."""
    problem = powered_menu(0.0, 0.0)
    found = best(problem)
    assert found is not None
    books = books_of(problem, found[0])
    mwh = books.site(problem, "s", LAST, "facility_mwh")
    assert found[0].onsite_mwh["s", "engine", LAST] == pytest.approx(mwh)
    more = redispatched(
        problem, found[0], lambda _, t: 1.01 * books.site(problem, "s", t, "facility_mwh")
    )
    assert more.onsite_mwh["s", "engine", LAST] == pytest.approx(1.01 * mwh)
    less = redispatched(
        problem, found[0], lambda _, t: 0.5 * books.site(problem, "s", t, "facility_mwh")
    )
    assert less.onsite_mwh["s", "engine", LAST] == pytest.approx(0.5 * mwh)

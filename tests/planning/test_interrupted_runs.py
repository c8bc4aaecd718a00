"""Runs that pause or slow while the grid interrupts power, and work that needs firm power."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from dcplan.catalog.schema import Parameter
from dcplan.errors import InputError
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.checks import all_checks
from dcplan.planning.audit.uses import uses_of
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decision_table import to_table
from dcplan.planning.decisions import Decisions
from dcplan.planning.model.build import build_model
from dcplan.planning.problem.build import build
from dcplan.planning.problem.energy import ResponseTerms, TrancheTerms
from dcplan.planning.problem.work.terms import TOKENS, RunOption
from dcplan.planning.solve.matrix import compile_model
from dcplan.reliability.power_cuts import NO_CUTS, PowerCuts
from dcplan.scenario.load import load
from tests.planning.interrupted import (
    HOURS_FRAC,
    KEEPS,
    LAST,
    PAUSES,
    SLOWS,
    TRANCHE,
    menu,
    plan,
    starter,
)
from tests.planning.optimum import judged, optimum
from tests.planning.small import HALL, powered_menu


@pytest.mark.parametrize(
    ("firm_mw", "able"),
    [(0.0, [PAUSES]), (0.02, [PAUSES]), (0.04, [PAUSES, SLOWS]), (0.1, [PAUSES, SLOWS, KEEPS])],
    ids=["none", "too little", "half", "all"],
)
def test_each_run_needs_firm_power_for_what_it_keeps(firm_mw: float, able: list[RunOption]) -> None:
    """One rack has 40 kW, with a peak PUE of 1.2 to 1.5 (its larger value counts) 60 kW. Half of it
    needs 30 kW. The plan of all three is the best of the plans of each alone."""
    alone = {i: plan(menu(firm_mw, x)) for i, x in enumerate((PAUSES, SLOWS, KEEPS))}
    assert [i for i, found in alone.items() if found] == list(range(len(able)))
    best = min(found[1] for found in alone.values() if found)
    together = plan(menu(firm_mw, PAUSES, SLOWS, KEEPS))
    assert together is not None
    assert together[1] == pytest.approx(best, rel=1e-9)


def test_a_run_that_pauses_trains_for_the_rest_of_its_days() -> None:
    """68 days with a tenth of pauses: 16 x 68 x 0.9 / 91.3125 train on average, 16 x 6.8 / 91.3125
    pause. Its use in the accounts has both; its energy only the first."""
    problem = menu(0.0, PAUSES)
    found = plan(problem)
    assert found is not None
    d = found[0]
    assert sum(d.training.values()) == pytest.approx(16 * 68 * 0.9 / 91.3125)
    assert sum(d.paused.values()) >= 16 * 6.8 / 91.3125 - 1e-9
    books = make_accounts(problem, d)
    own = sum(x.accelerator_hours for x in uses_of(problem, d, books) if x.workload == "job")
    assert own == pytest.approx(16 * 68 * 24)


def test_the_audit_finds_a_run_that_does_not_pause() -> None:
    problem = menu(0.0, PAUSES)
    found = plan(problem)
    assert found is not None
    wrong = dataclasses.replace(found[0], paused={})
    broken = [
        c.id for c in all_checks(problem, wrong, make_accounts(problem, wrong)) if not c.holds
    ]
    assert CheckId.RUNS_PAUSE in broken
    kept = dataclasses.replace(found[0], runs=(KEEPS,))
    broken = [c.id for c in all_checks(problem, kept, make_accounts(problem, kept)) if not c.holds]
    assert CheckId.FIRM_MW in broken


def test_a_service_needs_firm_power() -> None:
    """40 accelerators of b, 3 racks of 60 kW with PUE 1.2 to 1.5, serve always: 150 kW (of 180 kW in
    racks) of the larger PUE must be firm. The same load as research may pause."""
    base = powered_menu(0.1, 0.3)
    site = dataclasses.replace(base.sites[0], onsite=())
    research = dataclasses.replace(base, sites=(site,))
    service = dataclasses.replace(base.demands[0], unit=TOKENS, below_rated_kw={})
    served = dataclasses.replace(research, demands=(service,))
    assert optimum(research)[1] is not None
    assert optimum(served)[1] is None
    more = dataclasses.replace(site, utility_mw=(0.3, 0.3))
    assert optimum(dataclasses.replace(served, sites=(more,)))[1] is not None


def test_only_load_that_pauses_is_enrolled() -> None:
    """A program pays 900,000 USD for a MW and year. A run that keeps its power leaves the network and
    idle racks to enroll; one that pauses enrolls more."""
    kept, paused = plan(menu(0.4, KEEPS, called=True)), plan(menu(0.4, PAUSES, called=True))
    assert kept is not None
    assert paused is not None
    enrolled = [max(x.enrolled.get(("s", LAST), 0.0) for x in (y[0],)) for y in (kept, paused)]
    assert enrolled[0] < enrolled[1]


def test_decisions_name_what_a_run_does() -> None:
    rows = [to_table(Decisions(runs=(x,))) for x in (PAUSES, KEEPS)]
    assert [r.rows[0][3] for r in rows] == ["job on a, pauses in interruptions", "job on a"]


def test_lost_days_by_hand(tmp_path: Path) -> None:
    """200 h a year in events of 4 h: 50 restarts. Each place has both kinds of runs, and the one that
    pauses takes longer by 1 / (1 - lost share), apart from outages of 1.6 to 5 h a year."""
    found = build(load(starter(tmp_path, TRANCHE)))
    catalog = load(starter(tmp_path, TRANCHE)).catalog
    restart_h = sum(
        catalog.get("reliability", key, Parameter).value.value
        for key in ("restart-h", "detection-h")
    )
    lost = (200.0 + 50.0 * restart_h) / 8766.0
    runs = [x for x in found.problem.run_options if not x.on_cloud]
    pauses = [x for x in runs if x.cuts.hours_per_year]
    assert pauses
    assert {x.place for x in pauses} == {x.place for x in runs if not x.cuts.hours_per_year}
    for x in pauses:
        assert x.cuts == PowerCuts(200.0, 4.0)
        assert x.lost_days == pytest.approx(lost * x.days)
    twins = [
        (x.days_p50, y.days_p50)
        for x in pauses
        for y in runs
        if not y.cuts.hours_per_year
        and (x.place, x.system, x.link, x.precision, x.accelerators, x.start_month, x.step_time_s)
        == (y.place, y.system, y.link, y.precision, y.accelerators, y.start_month, y.step_time_s)
    ]
    assert twins
    for slow, quick in twins:
        assert slow / quick == pytest.approx(1.0 / (1.0 - lost), rel=1e-3)


@pytest.mark.parametrize(
    ("early", "late", "hours"),
    [
        ("[9, 9, 0, 0, 0, 0]", "[0, 0, 0, 9, 9, 9]", 200.0),
        ("[9, 9, 9, 9, 0, 0]", "[0, 0, 0, 9, 9, 9]", 300.0),
    ],
)
def test_tranches_of_different_dates_do_not_add_up(
    tmp_path: Path, early: str, late: str, hours: float
) -> None:
    """200 and 100 h a year: a run meets one at a time where the second begins after the first has ended."""
    site = (
        f"    interruptible: [{{id: e, mw: {early}, hours_per_year: 200, event_h: 4}}, "
        f"{{id: l, mw: {late}, hours_per_year: 100, event_h: 4}}]\n"
    )
    found = build(load(starter(tmp_path, site))).problem.run_options
    assert {x.cuts for x in found if x.cuts.hours_per_year} == {PowerCuts(hours, 4.0)}


@pytest.mark.parametrize(
    ("site", "job", "more", "said"),
    [
        ("", "      interrupted_power_frac: 0.5\n", "", "no site has interruptions"),
        (TRANCHE, "      interrupted_speed_frac: 0.5\n", "", "needs interrupted_power_frac"),
        (TRANCHE, "      interrupted_power_frac: 1.5\n", "", "less than or equal to 1"),
        (
            TRANCHE,
            "      interrupted_power_frac: 1\n",
            "",
            "without a battery on the site or a run",
        ),
        (
            *(TRANCHE, ""),
            "\nreliability: {interrupted_h_per_year: 100}\n",
            "sites state their hours",
        ),
        ("", "", "\nreliability: {interruption_h: 2}\n", "need interrupted_h_per_year"),
    ],
)
def test_a_field_without_effect_is_an_error(
    tmp_path: Path, site: str, job: str, more: str, said: str
) -> None:
    with pytest.raises(InputError) as error:
        build(load(starter(tmp_path, site, job, more)))
    assert any(said in p.cause for p in error.value.problems)


def test_a_run_that_may_not_pause_has_no_other_options(tmp_path: Path) -> None:
    plain = TRANCHE.replace(", event_h: 4", "")
    found = build(load(starter(tmp_path, plain, "      interrupted_power_frac: 1\n")))
    assert all(x.cuts == NO_CUTS for x in found.problem.run_options)


def test_the_tranche_of_the_small_menu_is_a_tenth_of_the_year() -> None:
    """The runs of this file have the hours of the tranche."""
    tranche: TrancheTerms = menu(0.0, PAUSES).sites[0].tranches[0]
    assert tranche.interrupted_frac == pytest.approx(HOURS_FRAC)
    assert PAUSES.cuts.hours_frac == pytest.approx(tranche.interrupted_frac)
    assert PAUSES.place == HALL


@pytest.mark.parametrize("usd", [9e6, 1e9])
def test_no_audited_enrollment_costs_less_than_the_bound(usd: float) -> None:
    """The model with ideal shares of switches gives the bound. Its plan has a network with whole switches
    and more load. In steps of 0.5 kW, more load is enrolled until the audit refuses it: no cost of an
    audited plan is below the bound."""
    base = menu(0.4, KEEPS, PAUSES, called=True)
    site = dataclasses.replace(base.sites[0], response=ResponseTerms(0.2, (usd, usd), 8.766))
    problem = dataclasses.replace(base, sites=(site,), margin_factor=0.0)
    outcome, found = optimum(problem)
    assert found is not None
    d, cost, broken = judged(problem, found)
    assert broken == []
    bound = outcome.objective * 1e6
    tried = 0
    while not broken:
        assert cost >= bound * (1.0 - 1e-9)
        more = {key: mw + 0.0005 for key, mw in d.enrolled.items()}
        d, cost, broken = judged(problem, dataclasses.replace(d, enrolled=more))
        tried += 1
    assert tried


def test_engines_carry_a_run_that_keeps_its_power() -> None:
    """Without firm power only engines of 50 kW can carry the 60 kW that the run keeps."""
    base = menu(0.0, KEEPS)
    site = dataclasses.replace(base.sites[0], onsite=powered_menu(0.0, 0.3).sites[0].onsite)
    assert plan(base) is None
    assert plan(dataclasses.replace(base, sites=(site,))) is not None


def test_the_audit_limits_enrolled_load_to_racks_that_may_pause() -> None:
    """The rated power of the racks less that of the run may be called, and not 1 kW more."""
    problem = menu(0.4, KEEPS, called=True)
    found = plan(problem)
    assert found is not None
    none = dataclasses.replace(found[0], enrolled={})
    room = next(
        c.limit - c.used
        for c in all_checks(problem, none, make_accounts(problem, none))
        if c.id is CheckId.CALLED_MW and c.quarter == LAST
    )
    for mw, wrong in ((room - 0.001, False), (room + 0.001, True)):
        d = dataclasses.replace(none, enrolled={("s", LAST): mw})
        assert (CheckId.CALLED_MW in judged(problem, d)[2]) == wrong


def test_the_audit_counts_services_as_load_that_needs_firm_power() -> None:
    """The plan of a site with 0.3 MW of firm power, on a site with 0.1 MW."""
    base = powered_menu(0.1, 0.3)
    site = dataclasses.replace(base.sites[0], onsite=())
    service = dataclasses.replace(base.demands[0], unit=TOKENS, below_rated_kw={})
    little = dataclasses.replace(base, sites=(site,), demands=(service,))
    more = dataclasses.replace(site, utility_mw=(0.3, 0.3))
    _, found = optimum(dataclasses.replace(little, sites=(more,)))
    assert found is not None
    assert CheckId.FIRM_MW in judged(little, found)[2]


def test_a_run_that_slows_pauses_the_part_of_its_power_that_stops() -> None:
    """16 accelerators, a tenth of the time, half of the power, for 61.5 of 91.3125 days."""
    matrix = compile_model(build_model(menu(0.04, SLOWS))[0])
    column = next(i for i, key in enumerate(matrix.columns) if key.name == "run")
    part = slice(matrix.start[column], matrix.start[column + 1])
    found = [
        abs(float(value))
        for row, value in zip(matrix.index[part], matrix.value[part], strict=True)
        if matrix.rows[row].name == "runs_pause"
    ]
    assert found == [pytest.approx(16 * 0.1 * 0.5 * 61.5 / 91.3125, rel=1e-6)]

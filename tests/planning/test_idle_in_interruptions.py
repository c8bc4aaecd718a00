"""Racks that stay on while their runs pause in interruptions of power."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from dcplan.errors import InputError
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.checks import all_checks
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decisions import from_solution
from dcplan.planning.keys import Key
from dcplan.planning.model.build import build_model
from dcplan.planning.problem.build import build
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.terms import RunOption
from dcplan.planning.solve import highs
from dcplan.planning.solve.matrix import compile_model
from dcplan.planning.solve.rounding import fullest, shortfalls, tightened
from dcplan.scenario.load import load
from tests.planning.interrupted import KEEPS, LAST, PAUSES, SLOWS, TRANCHE, menu, plan, starter
from tests.planning.optimum import judged
from tests.planning.small import HALL


def idling(problem: PlanningProblem) -> PlanningProblem:
    """The problem with racks that draw idle power while they pause."""
    site = dataclasses.replace(problem.sites[0], pauses_idle=True)
    return dataclasses.replace(problem, sites=(site,))


def dry(problem: PlanningProblem) -> PlanningProblem:
    """The problem with the cooling option of peak PUE 1.5 alone."""
    placed = tuple(p for p in problem.placements if p.cooling == "dry")
    return dataclasses.replace(problem, placements=placed)


IDLE_MW = (10.0 + 2.784) * 1.5 / 1000
"""A rack of 40 kW idles at 10 kW, its network takes 2.784 kW; with a peak PUE of 1.5: 19.18 kW."""
MARGIN_MW = 1e-3
"""More than the model adds for whole switches."""


@pytest.mark.parametrize(
    ("run", "stays_mw"),
    [(PAUSES, IDLE_MW), (SLOWS, (20.0 + 2.784) * 1.5 / 1000), (KEEPS, (40.0 + 2.784) * 1.5 / 1000)],
    ids=["pauses", "slows", "keeps"],
)
def test_firm_power_carries_racks_that_idle(run: RunOption, stays_mw: float) -> None:
    """In an interruption one rack draws idle power, half or all of its power, and its network stays on: a
    plan exists from that firm power on, and the audit measures it. Switched off, a rack needs none."""
    assert plan(dry(idling(menu(stays_mw - 1e-4, run)))) is None
    problem = dry(idling(menu(stays_mw + MARGIN_MW, run)))
    found = plan(problem)
    assert found is not None
    d, _, broken = judged(problem, found[0])
    assert broken == []
    checks = all_checks(problem, d, make_accounts(problem, d))
    used = next(c.used for c in checks if c.id is CheckId.FIRM_MW and c.quarter == LAST)
    assert used == pytest.approx(stays_mw, rel=1e-9)


def test_racks_that_idle_free_less_power() -> None:
    """The site needs 64.176 kW and has 20 firm. A tenth of 44.176 kW pauses on average: 4.4176 kW, of
    (60 - 15) / 16 = 2.8125 kW for each accelerator: 1.5707 of them. Switched off, 1.178."""
    problem = idling(menu(0.02, PAUSES))
    found = plan(problem)
    assert found is not None
    (key,) = found[0].paused
    for idle, least in ((True, 4.4176 / 2.8125), (False, 4.4176 / 3.75)):
        asked = problem if idle else menu(0.02, PAUSES)
        for paused, wrong in ((least + 1e-3, False), (least - 1e-3, True)):
            d = dataclasses.replace(found[0], paused={key: paused})
            checks = all_checks(asked, d, make_accounts(asked, d))
            assert any(c.id is CheckId.PAUSED_MW and not c.holds for c in checks) is wrong


def test_energy_counts_racks_that_idle_in_pauses() -> None:
    """10 kW for the whole quarter, and 20 kW more for 16 x 68 x 0.9 / 91.3125 of 16 accelerators: the
    energy of an interruption is that of idle racks."""
    problem = idling(menu(0.02, PAUSES))
    found = plan(problem)
    assert found is not None
    a = make_accounts(problem, found[0]).halls[HALL, LAST]
    busy = 68 * 0.9 / 91.3125
    pue = problem.cooled((HALL, "dry", "a")).pue
    assert a.racks_mwh == pytest.approx((10.0 + 20.0 * busy) * 2191.5 / 1000 * pue)
    assert a.idle_mwh == pytest.approx(10.0 * 2191.5 / 1000 * pue)


def test_only_power_above_idle_is_enrolled() -> None:
    """A call stops the mean load of a rack, 10 + 20 x busy kW, above its 10 kW at idle; switched off, all
    of it. The bound is that of the audited plan."""
    enrolled = []
    for problem in (menu(0.4, PAUSES, called=True), idling(menu(0.4, PAUSES, called=True))):
        found = plan(problem)
        assert found is not None
        d = found[0]
        a = make_accounts(problem, d).halls[HALL, LAST]
        able = a.racks_mwh - (a.idle_mwh if problem.sites[0].pauses_idle else 0.0)
        enrolled.append(d.enrolled["s", LAST])
        assert enrolled[-1] == pytest.approx(able / 2191.5, rel=1e-6)
        more = dataclasses.replace(d, enrolled={("s", LAST): enrolled[-1] + 1e-3})
        assert CheckId.ENROLLED_MW in judged(problem, more)[2]
    assert enrolled[1] < enrolled[0]


def test_paused_racks_of_a_scenario(tmp_path: Path) -> None:
    """The key reaches the problem, its default is off, and without interruptions it is an error."""
    for more, idle in (("", False), ("    paused_racks: idle\n", True)):
        (site,) = build(load(starter(tmp_path, TRANCHE + more))).problem.sites
        assert site.pauses_idle is idle
    with pytest.raises(InputError) as error:
        build(load(starter(tmp_path, "    paused_racks: idle\n")))
    assert any("paused_racks has no effect" in p.cause for p in error.value.problems)


@pytest.mark.parametrize("firm_mw", [0.017, 0.019])
def test_firm_power_that_whole_switches_exceed_is_taken_from_its_row(firm_mw: float) -> None:
    """With ideal shares of switches the network is smaller than 2.784 kW, so that a rack under the cheaper `dry`
    option seems to fit, and its audit needs 19.176 kW. The row loses 1.25 times the excess: a rack under `wet`,
    (10 + 2.784) x 1.2 = 15.341 kW, is the plan."""
    problem = dataclasses.replace(idling(menu(firm_mw, PAUSES)), margin_factor=0.0)
    base = compile_model(build_model(problem)[0])
    outcome = highs.solve(base, gap=0.0, time_limit_s=60)
    assert outcome.values is not None
    d, _, broken = judged(
        problem, from_solution(problem, base.columns, [float(v) for v in outcome.values])
    )
    assert broken == [CheckId.FIRM_MW]
    less = shortfalls(problem, all_checks(problem, d, make_accounts(problem, d)))
    rows = [Key("firm_power", ("s", 0, month)) for month in (3, 4, 5)]
    over = 1.25 * (IDLE_MW - firm_mw)
    assert less == {row: pytest.approx(over) for row in rows}
    assert fullest(base, outcome.values, less) == less  # all months of the run have the same load
    again = highs.solve(tightened(base, outcome.values, less), gap=0.0, time_limit_s=60)
    assert again.values is not None
    d, _, broken = judged(
        problem, from_solution(problem, base.columns, [float(v) for v in again.values])
    )
    assert broken == []
    assert (HALL, "wet", "a", 0) in d.ordered
    # a month with more room than the fullest one and the loss keeps its limit
    wide = base.row_upper.copy()
    wide[base.rows.index(rows[0])] += 2 * over
    roomy = dataclasses.replace(base, row_upper=wide)
    assert set(fullest(roomy, outcome.values, less)) == set(rows[1:])

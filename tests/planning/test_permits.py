"""Permits of on-site plants: hours of operation in a calendar year, against hand calculations."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.checks import all_checks
from dcplan.planning.audit.energy.permits import permit_limits
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decisions import Decisions
from dcplan.planning.limits import CHECKED
from dcplan.planning.model.build import build_model
from dcplan.planning.problem.energy import calendar_years
from dcplan.planning.problem.terms import PlanningProblem
from tests.planning.small import powered_menu
from tests.planning.test_onsite import HOURS, LAST, best, books_of


def permitted(
    hours: float | None, firm_mw: float = 0.1, usd_per_mwh: float = 90.0
) -> PlanningProblem:
    """Little firm power, and engines of 50 kW with a permit."""
    problem = powered_menu(firm_mw, 0.0)
    engine = replace(problem.sites[0].onsite[0], permit_h_per_year=hours, usd_per_mwh=usd_per_mwh)
    return replace(problem, sites=(replace(problem.sites[0], onsite=(engine,)),))


def test_cheap_fuel_runs_for_the_hours_of_the_permit() -> None:
    """5 cents from the engines, 8 from the grid. 400 h a year are 100 h in the one quarter in service: each
    unit, the spare one too, gives 0.05 x 100 = 5 MWh. Without the permit they run always."""
    problem = permitted(400.0, usd_per_mwh=50.0)
    found = best(problem)
    assert found is not None
    d = found[0]
    books_of(problem, d)
    units = d.onsite["s", "engine", 0]
    assert d.onsite_mwh["s", "engine", LAST] == pytest.approx(units * 0.05 * 100.0)
    free = best(permitted(None, usd_per_mwh=50.0))
    assert free is not None
    assert free[0].onsite_mwh["s", "engine", LAST] > 5 * d.onsite_mwh["s", "engine", LAST]
    assert free[1] < found[1]
    # the plan without a permit breaks it
    broken = [
        c for c in all_checks(problem, free[0], make_accounts(problem, free[0])) if not c.holds
    ]
    assert [c.name for c in broken] == [CheckId.PERMIT_MWH]


def test_few_hours_need_more_units_for_the_same_energy() -> None:
    """0.05 MW of the grid give 109.6 MWh of 201.5. Units of 1,200 / 4 = 300 h give 15 MWh each: 91.9 MWh need 7,
    where the peak needs 4. 8 units of 1 h a year are 0.1 MWh, and no plan."""
    free, problem = best(permitted(None, 0.05)), permitted(1200.0, 0.05)
    found = best(problem)
    assert free is not None
    assert found is not None
    d = found[0]
    mwh = books_of(problem, d).site(problem, "s", LAST, "facility_mwh")
    made = d.onsite_mwh["s", "engine", LAST]
    assert mwh == pytest.approx(201.5, abs=0.1)
    assert made == pytest.approx(mwh - 0.05 * HOURS)
    assert (free[0].onsite["s", "engine", 0], d.onsite["s", "engine", 0]) == (4, 7)
    assert math.ceil(made / 15.0) == 7
    assert best(permitted(1.0, 0.05)) is None


def test_a_calendar_year_has_the_quarters_of_the_horizon_in_it() -> None:
    """From October on, two quarters are in two years. 2 units of 50 kW serve in the second alone: nothing in the
    first year, 0.1 MW x 500 h / 4 = 12.5 MWh in the second."""
    problem = replace(permitted(500.0), start="2027-Q4")
    d = Decisions(onsite={("s", "engine", 0): 2}, onsite_mwh={("s", "engine", 1): 12.0})
    found = list(permit_limits(problem, d, problem.sites[0]))
    assert found == [
        (CheckId.PERMIT_MWH, "s engine", 0, 0.0, 0.0),
        (CheckId.PERMIT_MWH, "s engine", 1, 12.0, 12.5),
    ]
    whole = replace(problem, start="2027-Q3")
    (one,) = permit_limits(whole, d, whole.sites[0])
    assert one == (CheckId.PERMIT_MWH, "s engine", 0, 12.0, 12.5)
    assert calendar_years("2027-Q1", 8) == [range(4), range(4, 8)]
    assert calendar_years("2027-Q4", 1) == [range(1)]


def test_a_broken_permit_names_its_row_of_the_model() -> None:
    """The search reduces this row where whole switches take the plan above the permit."""
    problem = replace(permitted(500.0), start="2027-Q4")
    model, _ = build_model(problem)
    for first in (0, 1):
        (key,) = CHECKED[CheckId.PERMIT_MWH].broken_rows(CheckId.PERMIT_MWH, "s engine", first, 1)
        assert key.name == "onsite_permit"
        assert key.ids in model.onsite_permit

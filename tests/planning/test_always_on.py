"""Work that keeps its power in interruptions: batteries, periods of the week, sites and cooling options."""

from __future__ import annotations

import dataclasses

import pytest

from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.checks import all_checks
from dcplan.planning.audit.energy.interrupted import accelerator_mw, always_on_mw
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decisions import Decisions
from dcplan.planning.model.build import build_model
from dcplan.planning.problem.energy import BatteryTerms, OnsiteTerms
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.terms import TOKENS
from dcplan.planning.solve.matrix import compile_model
from tests.planning.interrupted import KEEPS, LAST, PAUSES, SLOWS, menu, plan
from tests.planning.optimum import judged, optimum
from tests.planning.small import HALL, powered_menu

RUN_MW = 0.060
"""One rack of 40 kW with the larger peak PUE of its cooling options, 1.5."""
CELLS = OnsiteTerms(
    *("cells", 0.005, 100.0, 0.0, 0.0, 0.0),
    lead=1,
    most_units=40,
    spare_units=0,
    battery=BatteryTerms(hours=4.0, round_trip_frac=0.8),
)
OTHER = "t/h"


def with_cells(event_h: float | None) -> PlanningProblem:
    """A site without firm power, with batteries and a tranche of the second quarter, for a run that keeps
    its power."""
    problem = menu(0.0, KEEPS)
    site = problem.sites[0]
    tranche = dataclasses.replace(site.tranches[0], event_h=event_h)
    own = dataclasses.replace(site, onsite=(CELLS,), tranches=(tranche,))
    return dataclasses.replace(problem, sites=(own,))


def test_a_battery_carries_a_run_that_keeps_its_power() -> None:
    """Batteries of 4 h carry the 60 kW of the run through events of 4 h: one MW carries sqrt(0.8) = 0.894,
    so 14 units of 5 kW are the least; with 1 kW less the audit finds it."""
    problem = with_cells(4.0)
    found = plan(problem)
    assert found is not None
    d = found[0]
    carried = {key: mw for key, mw in d.bridged.items() if mw > 0.0}
    assert sum(carried.values()) >= RUN_MW - 1e-9
    assert sum(d.onsite.values()) >= 14
    less = {key: (RUN_MW - 0.001) * mw / sum(carried.values()) for key, mw in carried.items()}
    assert CheckId.FIRM_MW in judged(problem, dataclasses.replace(d, bridged=less))[2]


def test_a_battery_without_the_length_of_events_carries_nothing() -> None:
    assert plan(with_cells(None)) is None


def by_turns(firm_mw: float) -> PlanningProblem:
    """40 accelerators of b serve in each half of the week: 2.5 racks of 60 kW with a peak PUE of 1.5 are
    225 kW at a time, with 1.2 they are 180 kW."""
    base = powered_menu(firm_mw, 0.5)
    site = dataclasses.replace(base.sites[0], onsite=())
    service = dataclasses.replace(
        base.demands[0], unit=TOKENS, below_rated_kw={}, hours_frac=0.5, wanted=(0.0, 14.0)
    )
    demands = tuple(
        dataclasses.replace(service, id=f"serve/{p}", period=p, load="serve", row="")
        for p in range(2)
    )
    return dataclasses.replace(
        base, sites=(site,), demands=demands, periods=(0.5, 0.5), margin_factor=0.0
    )


def test_a_service_needs_firm_power_in_the_periods_in_which_it_serves() -> None:
    """The services take turns, so the power of one is enough: 240 kW, not the 450 kW of both."""
    problem = by_turns(0.24)
    _, d = optimum(problem)
    assert d is not None
    assert judged(problem, d)[2] == []
    site = problem.sites[0]
    each = [always_on_mw(problem, d, site, 3, p) for p in range(2)]
    alone = 40 / 16 * 60.0 / 1000
    for load in each:
        assert 1.2 * alone - 1e-6 <= load <= 1.5 * alone + 1e-6
    assert sum(each) > 0.24
    assert optimum(by_turns(0.17))[1] is None


def two_sites() -> tuple[PlanningProblem, Decisions]:
    """The plan of one site, and a second site with the same hall, racks and run."""
    problem = menu(0.1, KEEPS)
    found = plan(problem)
    assert found is not None
    d = found[0]
    both = dataclasses.replace(
        problem,
        sites=(problem.sites[0], dataclasses.replace(problem.sites[0], id="t")),
        halls=(problem.halls[0], dataclasses.replace(problem.halls[0], id=OTHER, site="t")),
        placements=(
            *problem.placements,
            *(dataclasses.replace(p, hall=OTHER) for p in problem.placements),
        ),
    )
    ordered = {(OTHER, *key[1:]): n for key, n in d.ordered.items()}
    assert d.ordered
    return both, dataclasses.replace(
        d,
        ordered=dict(d.ordered) | ordered,
        runs=(*d.runs, dataclasses.replace(d.runs[0], place=OTHER)),
    )


def test_the_audit_counts_the_work_of_a_site_alone() -> None:
    """Each of two sites has one run of one rack; the power of the run is 48 or 60 kW by its cooling."""
    problem, d = two_sites()
    each = accelerator_mw(problem, d, HALL, "a", LAST)
    assert each == accelerator_mw(problem, d, OTHER, "a", LAST) > 0.0
    for site in problem.sites:
        assert always_on_mw(problem, d, site, 3, 0) == pytest.approx(16 * each)
    alone = dataclasses.replace(d, runs=d.runs[:1])
    assert always_on_mw(problem, alone, problem.sites[1], 3, 0) == 0.0
    assert always_on_mw(problem, d, problem.sites[0], 2, 0) == 0.0  # before the run


@pytest.mark.parametrize(
    ("used", "pue"), [(("dry",), 1.5), (("wet",), 1.2), (("dry", "wet"), 1.5), ((), 0.0)]
)
def test_an_accelerator_counts_with_the_largest_pue_in_use(
    used: tuple[str, ...], pue: float
) -> None:
    """40 kW of 16 accelerators times the peak PUE."""
    problem = menu(0.1, KEEPS)
    d = Decisions(ordered={(HALL, c, "a", 0): 1 for c in used})
    found = accelerator_mw(problem, d, HALL, "a", LAST)
    assert found == pytest.approx(40.0 / 16 * pue / 1000)


@pytest.mark.parametrize(("relaxed", "pue"), [(False, 1.5), (True, 1.2)])
def test_the_bound_counts_a_run_with_the_smallest_pue(relaxed: bool, pue: float) -> None:
    """A plan may put the run under either option: the model has the larger PUE, so that its plan holds, and
    the relaxation the smaller one, so that its bound is below every plan."""
    margin = 0.0 if relaxed else 2.0
    problem = dataclasses.replace(menu(0.1, KEEPS), margin_factor=margin)
    matrix = compile_model(build_model(problem)[0])
    column = next(i for i, key in enumerate(matrix.columns) if key.name == "run")
    part = slice(matrix.start[column], matrix.start[column + 1])
    found = [
        float(value)
        for row, value in zip(matrix.index[part], matrix.value[part], strict=True)
        if matrix.rows[row].name == "firm_power"
    ]
    assert found
    assert [abs(x) for x in found] == [pytest.approx(40.0 * pue / 1000)] * len(found)


def test_the_audit_accepts_a_run_with_exactly_its_power() -> None:
    problem = menu(RUN_MW, KEEPS)
    found = plan(problem)
    assert found is not None
    checks = all_checks(problem, found[0], make_accounts(problem, found[0]))
    used = [c.used for c in checks if c.id is CheckId.FIRM_MW and c.quarter == LAST]
    assert used == [pytest.approx(RUN_MW)]


@pytest.mark.parametrize("firm_mw", [0.0, 0.03, 0.1])
@pytest.mark.parametrize("event_h", [2.0, 8.0])
def test_the_bound_is_below_every_audited_plan(firm_mw: float, event_h: float) -> None:
    """Runs that pause, slow or keep their power, with batteries at 1,000 USD and a tranche: the relaxation
    with ideal shares and the smaller PUE against the audited plan of each run alone, and of all of them."""
    base = with_cells(event_h)
    site = dataclasses.replace(base.sites[0], utility_mw=(firm_mw, firm_mw))
    base = dataclasses.replace(base, sites=(site,))
    every = (PAUSES, SLOWS, KEEPS)
    bound = optimum(dataclasses.replace(base, run_options=every, margin_factor=0.0))[0].objective
    costs = []
    for runs in ((PAUSES,), (SLOWS,), (KEEPS,), every):
        problem = dataclasses.replace(base, run_options=runs)
        _, d = optimum(problem)
        if d is not None:
            _, usd, broken = judged(problem, d)
            assert broken == []
            costs.append(usd)
    assert len(costs) == 4
    assert bound * 1e6 <= min(costs) * (1 + 1e-9)

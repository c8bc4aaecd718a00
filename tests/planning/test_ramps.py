"""A ramp limit of a site: the battery that runs need, its size by hand, in the model, the audit and `facility`."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import pytest

import dcplan
from dcplan.economics.cash_flow import FlowGroup
from dcplan.energy.duties import Cells
from dcplan.errors import InputError
from dcplan.inputs.excluded import ExcludedOption
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.checks import all_checks
from dcplan.planning.check_ids import CheckId
from dcplan.planning.problem.build import build
from dcplan.planning.problem.energy import BatteryTerms, OnsiteTerms
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.terms.ramp import RampTerms
from dcplan.planning.problem.work.parts import RunPart
from dcplan.planning.problem.work.ramps import with_ramps
from dcplan.planning.problem.work.terms import RunOption
from dcplan.scenario.load import load
from dcplan.training.wide_area import Span
from tests.planning.optimum import judged, optimum
from tests.planning.small import HALL, powered_menu, small_menu

LAST = 1
CELLS = Cells(0.9, 0.81, 0.7, 0.9, 0.5)
"""Depth, round trip, end of life, working modules, shortest hours."""
RAMP = RampTerms(0.1, 0.5, 0.05, 30.0, 600.0, "cells", 4.0, CELLS)


def battery(lead: int = 0, most_units: int = 8, peak_h: float | None = None) -> OnsiteTerms:
    """A battery plant of 10 kW units and 4 h."""
    stored = BatteryTerms(4.0, 0.81, 0.9, peak_h)
    return OnsiteTerms(
        *("cells", 0.01, 4e3, 10.0, 0.0, 0.0),
        lead=lead,
        most_units=most_units,
        spare_units=0,
        battery=stored,
    )


def limited(ramp: RampTerms | None, plant: OnsiteTerms | None) -> PlanningProblem:
    """One run of a rack of 40 kW at a site with enough firm power, a ramp limit and a battery."""
    base, work = powered_menu(0.3, 0.0), small_menu()
    onsite = (plant,) if plant else ()
    site = dataclasses.replace(base.sites[0], tranches=(), onsite=onsite, ramp=ramp)
    excluded: list[ExcludedOption] = []
    runs = with_ramps(work.run_options[:1], (site,), base.placements, excluded)
    return dataclasses.replace(
        base,
        sites=(site,),
        demands=(),
        jobs=work.jobs,
        run_options=tuple(runs),
        margin_factor=2.0,
        excluded=tuple(excluded),
    )


@pytest.mark.parametrize(
    ("limit", "mw"),
    [
        # 10 MW rated, 2.5 idle: the end of the run falls by 7.5 MW, of which 90 % of the modules give all
        (0.1, 7.5 / 0.9),
        # at 0.001 MW/s the end takes 7.5^2 / 0.002 = 28,125 MJ = 7.81 MWh, still less than 4 h of the power
        (0.001, 7.5 / 0.9),
        # at 0.0001 it takes 78.1 MWh, over 0.9 x 0.9 x 0.9 x 0.7 and 4 h: 38.3 MW
        (0.0001, 7.5**2 / 0.0002 / 3600 / (0.9 * 0.9 * 0.9 * 0.7) / 4.0),
        # 7.5 MW within 50 ms are 150 MW/s: no battery
        (150.0, 0.0),
    ],
)
def test_the_size_of_the_battery_by_hand(limit: float, mw: float) -> None:
    ramp = dataclasses.replace(RAMP, limit_mw_per_s=limit)
    assert ramp.rated_mw(10.0, 2.5, 4.0) == pytest.approx(mw, rel=1e-12)
    assert ramp.falls(10.0, 2.5) is (mw > 0.0)


def test_a_site_without_battery_refuses_what_falls_too_fast() -> None:
    none = dataclasses.replace(RAMP, battery=None, cells=None)
    with pytest.raises(ValueError, match=r"a fall of 7.5 MW needs a battery"):
        none.rated_mw(10.0, 2.5, 4.0)
    assert dataclasses.replace(none, limit_mw_per_s=150.0).rated_mw(10.0, 2.5, 4.0) == 0.0


def test_the_plan_buys_the_battery_of_its_run() -> None:
    """40 kW to 10 kW idle: 30 kW / 0.9 = 33.3 kW, four units of 10 kW at 4,000 USD. Bound and audit agree,
    and the audit refuses three units."""
    problem = limited(RAMP, battery())
    assert problem.run_options[0].ramp_mw == pytest.approx(0.03 / 0.9)
    outcome, found = optimum(problem)
    assert found is not None
    d, usd, broken = judged(problem, found)
    assert broken == []
    assert sum(d.onsite.values()) == math.ceil(0.03 / 0.9 / 0.01) == 4
    assert outcome.objective * 1e6 <= usd * (1 + 1e-9)
    flows = [f for f in make_accounts(problem, d).flows if f.group is FlowGroup.CAPEX]
    assert sum(f.usd for f in flows if f.line == "power on site cells") == 4 * 4e3
    (check,) = (
        c for c in all_checks(problem, d, make_accounts(problem, d)) if c.id is CheckId.RAMP_MW
    )
    assert (check.used, check.limit) == (pytest.approx(0.03 / 0.9), pytest.approx(0.04))
    less = dataclasses.replace(d, onsite=dict.fromkeys(d.onsite, 3))
    assert CheckId.RAMP_MW in judged(problem, less)[2]
    free = limited(None, None)
    assert judged(free, optimum(free)[1])[2] == []


def test_shaving_takes_another_part_of_the_battery() -> None:
    """10 kW shaved for an hour a day take 10 / 0.9 kW of rated power: five units, not four."""
    problem = limited(RAMP, battery(peak_h=1.0))
    _, found = optimum(problem)
    assert found is not None
    d = judged(problem, found)[0]
    plain = dataclasses.replace(d, onsite_mw={}, onsite_mwh={}, onsite={("s", "cells", 0): 4})
    for units, wrong in ((4, True), (5, False)):
        shaved = dataclasses.replace(
            plain, onsite={("s", "cells", 0): units}, onsite_mw={("s", "cells", LAST): 0.01}
        )
        assert (CheckId.RAMP_MW in judged(problem, shaved)[2]) is wrong
    assert CheckId.RAMP_MW not in judged(problem, plain)[2]


@pytest.mark.parametrize(
    ("ramp", "plant", "said"),
    [
        (dataclasses.replace(RAMP, battery=None, cells=None), None, "no battery in onsite"),
        (RAMP, battery(most_units=3), "needs 0.0333 MW of battery, and max_mw of cells is 0.03"),
        (RAMP, battery(lead=2), "in service 2 quarters after the order"),
    ],
)
def test_a_run_is_refused_with_its_reason(
    ramp: RampTerms, plant: OnsiteTerms | None, said: str
) -> None:
    """The run starts in quarter 1; a battery of lead 1 serves it."""
    refused = limited(ramp, plant)
    assert refused.run_options == ()
    (reason,) = refused.excluded
    assert (reason.id, reason.where) == ("job", HALL)
    assert said in reason.reason
    assert limited(RAMP, battery(lead=1)).run_options


def test_parts_of_a_run_at_one_site_fall_together() -> None:
    """Two halls of a site: twice the fall. On two sites each has its own battery."""
    plain, placed = small_menu().run_options[0], small_menu().placements
    site = limited(RAMP, battery()).sites[0]

    def parts(second: str) -> tuple[list[RunOption], list[RunOption]]:
        halls = (HALL, second)
        more = [dataclasses.replace(p, hall=second) for p in placed if p.hall == HALL]
        runs = [
            dataclasses.replace(plain, place=x, part=RunPart("job#1", x, halls, (), Span()))
            for x in halls
        ]
        other = dataclasses.replace(site, id="r")
        return runs, with_ramps(runs, (site, other), [*placed, *more], [])

    (_, together), (_, apart) = parts("s/two"), parts("r/two")
    assert [x.ramp_mw for x in together] == [pytest.approx(0.06 / 0.9), 0.0]
    assert [x.ramp_mw for x in apart] == [pytest.approx(0.03 / 0.9)] * 2


TEXT = """\
dcplan: 1
name: ramp
horizon: {start: 2027-Q1, quarters: 8}
sites:
  - id: a
    location: us-dallas
    utility_mw: 20
    ramp_limit_mw_per_min: LIMIT
    onsite: [{id: lithium-battery-4h, max_mw: 30, lead_quarters: 1}]
    halls: [{id: h, existing: true, racks: 120, rack_kw_max: 250, it_mw: 12, cooling: [direct-liquid-dry-cooler]}]
systems: [gb300-nvl72]
fabrics: [ib-xdr-800]
"""
RUN = """\
workloads:
  training: [{id: base, model: llama-3.1-405b, tokens: 12e12, seq_len: 8192, global_batch_tokens: 16777216,
     precision: [fp8], deadline_days: 120}]
"""
DEMAND = "workloads: {capacity: [{id: r, accelerator_hours: [0, 60000], utilization_frac: 1}]}\n"


def scenario(folder: Path, limit: float, work: str) -> str:
    file = folder / "ramp.yaml"
    file.write_text(TEXT.replace("LIMIT", f"{limit:g}") + work, encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("mw_per_s", [5.0, 0.1, 1e-5])
def test_plan_and_facility_size_the_same_battery(tmp_path: Path, mw_per_s: float) -> None:
    """`facility` rates a battery for its job; the plan's terms give the same for the same power. The swing
    of a step is half of the rated power."""
    hall = dcplan.facility(
        cooling="direct-liquid-dry-cooler",
        site="us-dallas",
        system="gb300-nvl72",
        it_mw=5.0,
        job="llama-3.1-405b",
        ramp_limit_mw_per_s=mw_per_s,
    )
    problem = build(load(scenario(tmp_path, mw_per_s * 60.0, RUN))).problem
    ramp, place = problem.sites[0].ramp, problem.placements[0]
    assert ramp is not None
    high = 2.0 * hall.value("swing.amplitude_mw")
    step_s = 1.0 / hall.value("swing.frequency_hz")
    found = ramp.rated_mw(high, high * place.idle_average_kw / place.rated_kw, step_s)
    rated = max(hall.value("battery.rated_mw"), hall.value("battery.rated_mwh") / 4.0)
    assert found == pytest.approx(rated, rel=1e-9)


def test_a_ramp_limit_without_a_run_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        build(load(scenario(tmp_path, 6.0, DEMAND)))
    assert any("ramp_limit_mw_per_min has no effect" in p.cause for p in error.value.problems)


def test_a_plan_of_a_scenario_buys_whole_units(tmp_path: Path) -> None:
    """The battery of the chosen run, in units of 1 MW; the audit passes."""
    found = dcplan.plan(scenario(tmp_path, 6.0, RUN), gap=0.02)
    (plant,) = {row["source"] for row in found.frame("onsite").to_dict("records")}
    assert plant == "lithium-battery-4h"
    run = found.frame("jobs").to_dict("records")[0]
    fall = run["accelerators"] / 72 * 135e-3 * 0.75 / 0.98
    bought = found.frame("onsite")["units_ordered"].sum()
    assert bought == math.ceil(fall)


def test_explain_names_the_lead_time_of_the_battery_that_sets_a_start(tmp_path: Path) -> None:
    """Racks serve in the second quarter; the battery for the ramp limit needs three quarters, so the run starts in
    the fourth. Without a ramp limit the racks set the start, and no plant is named."""
    file = Path(scenario(tmp_path, 6.0, RUN.replace(", deadline_days: 120", "")))
    text = file.read_text(encoding="utf-8").replace("lead_quarters: 1", "lead_quarters: 3")
    file.write_text(text, encoding="utf-8")
    found = dcplan.explain(str(file), gap=0.02)
    (note,) = [w["message"] for w in found.warnings if w["code"] == "lead"]
    assert note == (
        "base starts in 2027-Q4: the lead time of lithium-battery-4h at a sets the start of base. It is 3 quarters; "
        "without it the run could start in 2027-Q2"
    )
    if found.frame("binding").empty:
        assert (
            "is binding; the lead time of lithium-battery-4h at a sets the start" in found.summary
        )
    short = text.replace("lead_quarters: 3", "lead_quarters: 1")
    file.write_text(short, encoding="utf-8")
    assert not [w for w in dcplan.explain(str(file), gap=0.02).warnings if w["code"] == "lead"]

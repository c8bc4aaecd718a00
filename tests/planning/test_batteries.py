"""Batteries in a plan: shaved peaks and carried interruptions by hand, units by enumeration, bounds."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

import pytest

from dcplan.energy.shaving import mw_per_carried_mw, peak_over_mean_per_mw
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.onsite import carbon_t, interruptible_use_mw
from dcplan.planning.check_ids import CheckId
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.energy import BatteryTerms, OnsiteTerms, ResponseTerms, TrancheTerms
from dcplan.planning.problem.fabrics.switch_steps import with_steps
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.solve.large.racks import MOST_STEPS
from tests.planning.optimum import judged, optimum, planned
from tests.planning.small import powered_menu, small_menu

HOURS, LAST, DAYS = 2191.5, 1, 91.3125
CELLS = BatteryTerms(hours=4.0, round_trip_frac=0.8, available_frac=1.0, peak_h=4.0)


def stored(
    units: int,
    usd: float,
    battery: BatteryTerms = CELLS,
    *,
    demand_usd: float = 0.0,
    firm_mw: float = 2.0,
    tranche: TrancheTerms | None = None,
    steps: bool = True,
) -> PlanningProblem:
    """The small menu with up to some battery units of 5 kW, which serve from the second quarter on.

    Switches are whole, or ideal shares without ``steps``."""
    problem = powered_menu(firm_mw, 0.0)
    plant = OnsiteTerms(
        *("cells", 0.005, usd, 0.0, 0.0, 0.0),
        lead=1,
        most_units=units,
        spare_units=0,
        battery=battery,
    )
    site = dataclasses.replace(
        problem.sites[0],
        onsite=(plant,) if units else (),
        tranches=(tranche,) if tranche else (),
        usd_per_kwh=(0.1, 0.1),
        demand_usd_per_kw_month=demand_usd,
    )
    own = dataclasses.replace(problem, sites=(site,), margin_factor=0.0)
    return with_steps(own, MOST_STEPS, exact=True) if steps else own


def loads(problem: PlanningProblem, d: Decisions) -> tuple[float, float]:
    """Peak and mean power of the second quarter in MW."""
    books = make_accounts(problem, d)
    peak, mwh = (books.site(problem, "s", LAST, x) for x in ("facility_mw", "facility_mwh"))
    return peak, mwh / HOURS


def shaved(problem: PlanningProblem, d: Decisions) -> Iterator[tuple[int, float]]:
    """Every number of units with the largest peak that they shave, and the audited cost, by hand:
    power, then room to refill."""
    plant = problem.sites[0].onsite[0]
    peak, mean = loads(problem, d)
    for units in range(plant.most_units + 1):
        power = units * 0.005 / max(1.0, 4.0 / (4.0 * math.sqrt(0.8)))
        room = (peak - mean) / (1.0 + 4.0 / 24.0 * 0.25)
        tried = dataclasses.replace(
            d,
            onsite={("s", "cells", 0): units} if units else {},
            onsite_mw={("s", "cells", LAST): min(power, room)},
            onsite_mwh={},
        )
        _, usd, broken = judged(problem, tried)
        assert broken == []
        yield units, usd


def test_a_battery_carries_its_power_while_its_energy_lasts() -> None:
    """4 h at a round trip of 0.64 give 3.2 h: one MW for 3 h, 0.5 MW for 6.4 h."""
    assert mw_per_carried_mw(3.0, 4.0, 0.64) == 1.0
    assert mw_per_carried_mw(6.4, 4.0, 0.64) == pytest.approx(2.0)
    assert peak_over_mean_per_mw(12.0, 0.5) == pytest.approx(1.5)


@pytest.mark.parametrize(("usd", "demand"), [(2000.0, 40.0), (2000.0, 20.0), (2000.0, 200.0)])
def test_the_plan_buys_the_units_that_an_enumeration_finds(usd: float, demand: float) -> None:
    """The demand charge of a quarter against units; the bound is the enumerated optimum, to 1e-6."""
    problem = stored(30, usd, demand_usd=demand)
    d, found_usd, bound = planned(problem)
    units, best_usd = min(shaved(problem, d), key=lambda x: x[1])
    assert bound <= best_usd * (1 + 1e-9)
    assert bound == pytest.approx(best_usd, rel=1e-6)
    assert found_usd == pytest.approx(best_usd, rel=1e-6)
    assert d.onsite.get(("s", "cells", 0), 0) == units


def test_a_shaved_peak_pays_less_demand_and_losses_by_hand() -> None:
    """10 units of 5 kW with 4 h x sqrt(0.8): 44.7 kW less for 3 months, and a quarter of 4 h a day more
    energy, for which the grid emits."""
    problem = stored(30, 0.0, demand_usd=40.0)
    base = dataclasses.replace(planned(problem)[0], onsite={}, onsite_mw={}, onsite_mwh={})
    less = 10 * 0.005 * math.sqrt(0.8)
    _, before, _ = judged(problem, base)
    d, after, broken = judged(
        problem,
        dataclasses.replace(
            base, onsite={("s", "cells", 0): 10}, onsite_mw={("s", "cells", LAST): less}
        ),
    )
    assert broken == []
    lost = less * 4.0 * DAYS * 0.25
    hand = (less * 1000 * 3 * 40.0 - lost * 100.0) * 1.1 ** (-1.5 / 4)
    assert before - after == pytest.approx(hand, rel=1e-9)
    assert d.onsite_mwh == {("s", "cells", LAST): pytest.approx(-lost)}
    mwh = loads(problem, d)[1] * HOURS
    assert carbon_t(d, problem.sites[0], mwh, LAST) == pytest.approx((mwh + lost) * 0.3)


def test_a_peak_that_lasts_all_day_or_a_load_without_variation_is_not_shaved() -> None:
    """More than the peak less the mean cannot be shaved; a battery without peak_h shaves nothing."""
    problem = stored(30, 0.0, demand_usd=40.0)
    d, _, _ = planned(problem)
    peak, mean = loads(problem, d)
    over = dataclasses.replace(
        d, onsite={("s", "cells", 0): 30}, onsite_mw={("s", "cells", LAST): 1.001 * (peak - mean)}
    )
    assert judged(problem, over)[2] == [CheckId.SHAVED_MW]
    none = stored(30, 0.0, dataclasses.replace(CELLS, peak_h=None), demand_usd=40.0)
    assert planned(none)[0].onsite_mw == {}
    assert CheckId.SHAVED_MW in judged(none, over)[2]


def test_a_battery_lets_a_site_exceed_its_firm_power() -> None:
    """Firm power of the peak less 5 kW: no plan without a battery, and one with two units of 4.47 kW."""
    d, _, _ = planned(stored(0, 0.0))
    peak, _ = loads(stored(0, 0.0), d)
    assert optimum(stored(1, 1.0, firm_mw=peak - 0.005))[1] is None
    found, _, _ = planned(stored(30, 1000.0, firm_mw=peak - 0.005))
    assert loads(stored(0, 0.0), found)[0] > peak - 0.005 - 1e-9 or found.ordered != d.ordered


def test_carried_interruptions_pause_no_work() -> None:
    """A tranche of half the load, cut a tenth of the year for up to 8 h: batteries of 4 h carry 0.447 of their
    power. What they carry need not pause; the losses are a quarter of the energy of the events."""
    tranche = TrancheTerms("flex", (0.0, 0.1), 876.6, event_h=8.0)
    d, _, _ = planned(stored(0, 0.0))
    peak, _ = loads(stored(0, 0.0), d)
    cells = dataclasses.replace(CELLS, peak_h=None)
    free = stored(60, 0.0, cells, firm_mw=peak - 0.05, tranche=tranche)
    found, _, _ = planned(free)
    base = dataclasses.replace(d, onsite={("s", "cells", 0): 60}, onsite_mwh={})
    key = ("s", "cells", "flex", LAST)
    carried = dataclasses.replace(base, bridged={key: 0.05})
    with_battery, _, broken = judged(free, carried)
    assert broken == []
    assert with_battery.onsite_mwh == {
        ("s", "cells", LAST): pytest.approx(-0.05 * 876.6 / 4 * 0.25)
    }
    assert judged(free, base)[2] == [CheckId.PAUSED_MW]
    few = dataclasses.replace(carried, onsite={("s", "cells", 0): 22})
    assert judged(free, few)[2] == [CheckId.BATTERY_MW]  # 22 x 5 kW x 0.447 = 49.2 kW
    assert found is not None


def test_a_carried_tranche_is_used_before_one_with_fewer_hours() -> None:
    """Firm power of 20 kW and a load of 30 kW: the battery carries 4 kW of the tranche of 800 hours, so the
    one of 80 hours gives the other 6 kW. Without the battery it gives all that it has, 8 kW, first."""
    few, many = (
        TrancheTerms("few", (0.008,) * 2, 80.0),
        TrancheTerms("many", (0.02,) * 2, 800.0, 4.0),
    )
    site = dataclasses.replace(
        stored(2, 1.0).sites[0], utility_mw=(0.02, 0.02), tranches=(few, many)
    )
    carried = Decisions(bridged={("s", "cells", "many", LAST): 0.004})
    found = interruptible_use_mw(carried, site, 0.03, 0.03 * HOURS, LAST)
    assert found == pytest.approx({"few": 0.006, "many": 0.004})
    found = interruptible_use_mw(Decisions(), site, 0.03, 0.03 * HOURS, LAST)
    assert found == pytest.approx({"few": 0.008, "many": 0.002})


def test_bridging_units_are_those_of_an_enumeration() -> None:
    """Units at a price against paused work that costs more racks: every number of units, whole model with
    the units fixed, to 1e-6."""
    tranche = TrancheTerms("flex", (0.0, 0.1), 2000.0, event_h=8.0)
    d, _, _ = planned(stored(0, 0.0))
    peak, _ = loads(stored(0, 0.0), d)
    cells = dataclasses.replace(CELLS, peak_h=None)
    costs = []
    for units in (0, 8, 16, 24, 32):
        limited = stored(units, 20.0, cells, firm_mw=peak - 0.05, tranche=tranche)
        outcome, found = optimum(limited)
        if found is not None:
            costs.append(judged(limited, found)[1])
            assert outcome.objective * 1e6 <= costs[-1] * (1 + 1e-9)
    best = planned(stored(32, 20.0, cells, firm_mw=peak - 0.05, tranche=tranche))
    assert best[1] <= min(costs) * (1 + 1e-6)
    assert best[2] <= best[1] * (1 + 1e-9)


def test_days_of_a_run_have_no_lower_mean_than_training() -> None:
    """A run of 60 days in a quarter of 91: the room is rated power at the peak PUE less training power at the
    mean PUE, of all racks of the system, and not the mean of the quarter."""
    problem = small_menu()
    own = (
        OnsiteTerms(
            "cells", 0.005, 0.0, 0.0, 0.0, 0.0, lead=0, most_units=200, spare_units=0, battery=CELLS
        ),
    )
    site = dataclasses.replace(
        problem.sites[0],
        onsite=own,
        utility_mw=(2.0, 2.0),
        demand_usd_per_kw_month=100.0,
        minimum_take_frac=0.0,
    )
    problem = with_steps(
        dataclasses.replace(
            problem,
            sites=(site,),
            demands=(),
            offers=(),
            run_options=problem.run_options[:1],
            margin_factor=0.0,
        ),
        MOST_STEPS,
        exact=True,
    )
    d, usd, bound = planned(problem)
    assert bound <= usd * (1 + 1e-9)
    peak, mean = loads(problem, d)
    place = next(p for p in problem.placements if p.key in {k[:3] for k in d.ordered})
    racks = sum(d.ordered.values())
    pue = problem.hall(place.hall).cooling(place.cooling).pue
    trained = d.training[(*place.key, LAST)]
    assert 0.0 < trained < racks * place.accelerators
    each = (place.training_kw - place.idle_average_kw) * pue / 1000
    busy = mean + each * (racks - trained / place.accelerators)
    # the model has the network at the lowest PUE of the hall, which leaves 1.3 % less room
    room = d.onsite_mw["s", "cells", LAST] * (1 + 0.25 / 6)
    assert room == pytest.approx(peak - busy, rel=0.02)
    assert room < 0.8 * (peak - mean)


@pytest.mark.parametrize(("usd", "hours"), [(100e3, 200.0), (100e3, 2000.0), (1e3, 4000.0)])
def test_load_is_enrolled_where_its_payment_is_above_the_paused_work(
    usd: float, hours: float
) -> None:
    """Demand response pays a fourth of its yearly payment for each MW; its calls pause work. Enumerated loads
    from 0 to the most, each with the model's best hardware, never cost less than the plan."""
    costs = []
    for most in (1e-9, 0.01, 0.02, 0.03, 0.04):
        base = stored(0, 0.0)
        terms = ResponseTerms(most, (usd, usd), hours)
        site = dataclasses.replace(base.sites[0], response=terms)
        d, found_usd, bound = planned(dataclasses.replace(base, sites=(site,)))
        assert bound == pytest.approx(found_usd, rel=1e-6)
        costs.append(found_usd)
        enrolled = d.enrolled.get(("s", LAST), 0.0)
        books = make_accounts(dataclasses.replace(base, sites=(site,)), d)
        paid = sum(f.usd for f in books.flows if f.line == "demand response")
        assert paid == pytest.approx(-enrolled * usd / 4)
        if most == 0.04 and hours == 200.0:
            assert enrolled == pytest.approx(0.04, rel=1e-6)
            assert sum(d.paused.values()) > 0.0
    assert costs == sorted(costs, reverse=True)


def test_calls_pause_work_and_no_more_than_the_mean_load_counts() -> None:
    """0.04 MW called 876.6 h a year: 4 kW of racks pause on average; all load and more is refused."""
    base = stored(0, 0.0)
    site = dataclasses.replace(base.sites[0], response=ResponseTerms(9.0, (1e5, 1e5), 876.6))
    problem = dataclasses.replace(base, sites=(site,))
    d, _, _ = planned(base)
    some = dataclasses.replace(d, enrolled={("s", LAST): 0.04})
    assert judged(problem, some)[2] == [CheckId.PAUSED_MW]
    key = next(iter(d.ordered))[:3]
    place, pue = problem.placed[key], problem.hall(key[0]).cooling(key[1]).peak_pue
    each = place.rated_kw * pue / 1000 / place.accelerators
    enough = dataclasses.replace(some, paused={(*key, LAST): 0.004 / each * 1.001})
    assert CheckId.PAUSED_MW not in judged(problem, enough)[2]
    over = dataclasses.replace(enough, enrolled={("s", LAST): 1.01 * loads(problem, d)[1]})
    assert CheckId.ENROLLED_MW in judged(problem, over)[2]


@pytest.mark.parametrize("steps", [True, False])
def test_the_model_shaves_no_less_than_the_audit_allows(steps: bool) -> None:
    """A demand charge of 5,000 USD/kW pays for all shaving that the load leaves room for. For the hardware of
    the plan, the audit accepts steps of 20 W up to the amount of the model, with whole switches and with
    shares: a model that shaves less would have a bound above an audited plan."""
    problem = stored(40, 1.0, demand_usd=5e3, steps=steps)
    found = optimum(problem)[1]
    assert found is not None
    key, broken = ("s", "cells", LAST), False
    accepted = [0.0]
    for mw in (0.09 + 0.00002 * n for n in range(3000)):
        lost = {**found.onsite_mwh, key: -mw * CELLS.shaving_loss_h}
        more = dataclasses.replace(found, onsite_mw={**found.onsite_mw, key: mw}, onsite_mwh=lost)
        broken = CheckId.SHAVED_MW in judged(problem, more)[2]
        if broken:
            break
        accepted.append(mw)
    assert broken
    assert len(accepted) > 10
    assert found.onsite_mw[key] >= accepted[-1]

"""Every choice of integer decisions of one site of a tiny menu: its halls, plants and power blocks.

Power blocks are bought when the peak needs them, because a later payment costs less.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from dcplan.planning.problem.terms import PlanningProblem, SiteTerms
from tests.planning.brute import blocks_of
from tests.planning.brute_halls import HallChoice, end, hall_choices, middle
from tests.planning.brute_parts import HOURS, K


@dataclass(frozen=True)
class SiteChoice:
    """Integer decisions of one site."""

    halls: tuple[HallChoice, ...]
    units: tuple[int, ...]
    """Units of the plant ordered by quarter."""
    blocks: tuple[int, ...]
    """Power blocks by quarter."""
    steps: tuple[int, ...]
    """Steps of the contract by first quarter."""
    cash: tuple[float, ...]
    usd: float
    """Present value of all that does not depend on the continuous decisions."""
    states: tuple[tuple[tuple[int, ...], tuple[float, ...], int, bool, int], ...]
    """Racks by placement, network power by hall, units in service, use and steps in force, by quarter."""


def site_choices(problem: PlanningProblem, site: SiteTerms) -> Iterator[SiteChoice]:
    """Every combination of halls, plants and contracts of a site with power blocks for its peak."""
    halls = [h for h in problem.halls if h.site == site.id]
    plants = [_plant_orders(problem, site), _contract_steps(problem, site)]
    choices = [list(hall_choices(problem, h)) for h in halls]
    for *chosen, units, steps in itertools.product(*choices, *plants):
        made = _site_choice(problem, site, tuple(chosen), units, steps)
        if made is not None:
            yield made


def _plant_orders(problem: PlanningProblem, site: SiteTerms) -> list[tuple[int, ...]]:
    """Units of the plant ordered by quarter."""
    if not site.onsite:
        return [(0,) * problem.quarters]
    (x,) = site.onsite
    ranges = [
        range(x.most_units + 1 if t + x.lead < problem.quarters else 1)
        for t in range(problem.quarters)
    ]
    return [way for way in itertools.product(*ranges) if sum(way) <= x.most_units]


def _contract_steps(problem: PlanningProblem, site: SiteTerms) -> list[tuple[int, ...]]:
    """Steps of the contract signed by first quarter."""
    if not site.contracts:
        return [(0,) * problem.quarters]
    (x,) = site.contracts
    ranges = [range(x.most_steps + 1 if t >= x.first else 1) for t in range(problem.quarters)]
    return [way for way in itertools.product(*ranges) if sum(way) <= x.most_steps]


def _site_choice(
    problem: PlanningProblem,
    site: SiteTerms,
    halls: tuple[HallChoice, ...],
    ordered: tuple[int, ...],
    steps: tuple[int, ...],
) -> SiteChoice | None:
    fin, last, quarters = problem.finance, end(problem), range(problem.quarters)
    place = {(p.hall, p.system): p for p in problem.placements}
    blocks, cash, states, usd = [], [], [], 0.0
    for t in quarters:
        units = sum(n for q, n in enumerate(ordered) for x in site.onsite if q + x.lead <= t)
        used = any(h.fitted is not None and h.fitted <= t for h in halls)
        new = [h for h in halls if h.hall.needs_blocks]
        peak = sum(
            (h.net_kw[t] + sum(n * place[h.hall.id, k].rated_kw for k, n in h.racks[t].items()))
            * h.hall.coolings[0].peak_pue
            / K
            for h in new
        )
        open_ = any(h.fitted is not None and h.fitted <= t for h in new)
        before = blocks[-1] if blocks else 0
        blocks.append(max(blocks_of(site, peak, open_=open_), before))
        if blocks[t] and t < site.block_lead:
            return None
        power = (blocks[t] - before) * site.block_usd
        power += ordered[t] * sum(x.usd for x in site.onsite)
        usd -= last * fin.power_residual_frac[t] * power
        upkeep = units * sum(x.fixed_usd_per_quarter for x in site.onsite)
        staff = site.staff_usd_per_quarter if used else 0.0
        plot = site.land_usd if used and not (states and states[-1][3]) else 0.0
        usd -= last * plot * (site.land_left_frac[t] if plot else 0.0)
        force = sum(steps[: t + 1])
        output = sum(
            (x.usd_per_mwh[t] - x.surplus_usd_per_mwh[t]) * x.step_mw * HOURS * force
            for x in site.contracts  # of a flat contract
        )
        cash.append(power + upkeep + staff + plot + output + sum(h.cash[t] for h in halls))
        racks = tuple(
            h.racks[t][p.system] for h in halls for p in problem.placements if p.hall == h.hall.id
        )
        states.append((racks, tuple(h.net_kw[t] for h in halls), units, used, force))
    usd += sum(middle(problem, t) * cash[t] for t in quarters) + sum(h.other_usd for h in halls)
    return SiteChoice(halls, ordered, tuple(blocks), steps, tuple(cash), usd, tuple(states))

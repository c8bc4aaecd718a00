"""Enumerate every integer decision of a tiny menu and price it without Pyomo.

The formulas are those of docs/method/planning.md, here written a second time.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping

from dcplan.planning.problem.terms import (
    ExistingTerms,
    FabricOption,
    HallTerms,
    Placement,
    PlanningProblem,
    SiteTerms,
)
from dcplan.planning.problem.work.terms import RunOption

HOURS = 91.3125 * 24
RULES = {"n": (1.0, 0), "n+1": (1.0, 1), "2n": (2.0, 0), "4n/3": (4 / 3, 0)}


def best_cost(problem: PlanningProblem) -> float:
    """Cheapest net present cost in USD over all integer points; infinite when none is feasible."""
    return min(
        (_cost(problem, *choice, gone) for choice in _choices(problem) for gone in _exits(problem)),
        default=math.inf,
    )


def _exits(problem: PlanningProblem) -> list[int | None]:
    """Quarters in which the one asset or order (all its racks) may go; None where it stays."""
    return [None, *(problem.existing[0].disposal_window if problem.existing else ())]


def _choices(
    problem: PlanningProblem,
) -> Iterator[tuple[dict[tuple[str, int], int], int | None, FabricOption | None, RunOption | None]]:
    keys = [
        (p.system, q)
        for p in problem.placements
        for q in range(p.first_order, problem.quarters - p.lead)
    ]
    supply = {(s.system, q): n for s in problem.supply for q, n in enumerate(s.racks)}
    ranges = [range(int(min(2, supply.get(k, 2))) + 1) for k in keys]
    opened = [None, *range(problem.halls[0].available_from, problem.quarters)]
    runs: list[RunOption | None] = list(problem.run_options) if problem.jobs else [None]
    fabrics: list[FabricOption | None] = [None, *problem.fabrics]
    for counts in itertools.product(*ranges):
        buy = dict(zip(keys, counts, strict=True))
        for first, fabric, run in itertools.product(opened, fabrics, runs):
            if any(counts) and (first is None or fabric is None):
                continue
            yield buy, first, fabric, run


def _cost(
    problem: PlanningProblem,
    buy: dict[tuple[str, int], int],
    opened: int | None,
    fabric: FabricOption | None,
    run: RunOption | None,
    gone: int | None,
) -> float:
    hall, site, fin = problem.halls[0], problem.sites[0], problem.finance
    cool, T = hall.coolings[0], problem.quarters
    share = next(iter(fabric.shares.values())) if fabric else None
    place = {p.system: p for p in problem.placements}
    ordered = [
        {s: sum(n for (k, q), n in buy.items() if k == s and q <= t) for s in place}
        for t in range(T)
    ]
    racks = [
        {s: sum(n for (k, q), n in buy.items() if k == s and q + place[s].lead <= t) for s in place}
        for t in range(T)
    ]
    spend, paid, value, blocks, carbon = [0.0] * T, [0.0] * T, 0.0, 0, 0.0
    existing = problem.existing[0] if problem.existing else None
    fees, sales, worth = _existing(existing, gone, T)
    if existing and (
        (existing.in_service and opened != 0)
        or (fabric is None and (existing.in_service or gone is None))
    ):
        return math.inf
    for t in range(T):
        if existing and existing.serves(t) and (gone is None or t < gone):
            racks[t][existing.key[2]] += existing.racks
        if existing and (existing.in_service or gone is None):
            ordered[t][existing.key[2]] += existing.racks
    value += worth
    free = 0
    for t in range(T):
        open_ = opened is not None and t >= opened
        ports = sum(n * place[s].ports for s, n in racks[t].items())
        bought = sum(n * place[s].ports for s, n in ordered[t].items())
        before = (
            sum(n * place[s].ports for s, n in ordered[t - 1].items()) if t else _connected(problem)
        )
        net_up, net = (ports * share.upper_kw, ports * share.kw) if share else (0.0, 0.0)
        over = _connected(problem) if existing and existing.in_service and existing.last <= t else 0
        if (
            bought
            and fabric
            and bought - over > min(fabric.least_reach, _ports_cap(problem) + _connected(problem))
        ):
            return math.inf
        rated = sum(n * place[s].rated_kw for s, n in racks[t].items())
        net_racks = ports * (share.upper_racks if share else 0.0)
        if not fits(hall, place, racks[t], net_up, net_racks, open_=open_):
            return math.inf
        peak = (rated + net_up) * cool.peak_pue / 1000
        if peak > site.utility_mw[t] + 1e-9:
            return math.inf
        energy = _energy(problem, racks[t], net, run, t)
        if energy is None:
            return math.inf
        mwh, cloud = energy
        carbon += mwh * site.grid_g_per_kwh / 1000
        new_blocks = blocks_of(site, peak, open_=open_)
        added = max(new_blocks - blocks, 0) if hall.needs_blocks else 0
        blocks += added
        capex = (
            sum(n * place[s].price_usd for (s, q), n in buy.items() if q == t)
            + added * site.block_usd
        )
        capex += (bought - before) * (share.usd if share else 0.0)
        free += (
            _connected(problem)
            if existing and existing.in_service and 0 < existing.last == t
            else 0
        )
        reused = min(free, bought - before) if t else 0
        free -= reused
        freed = _freed_usd(fabric) * reused
        capex -= freed
        value -= freed * fin.hardware_residual_frac[t]
        capex += fees[t]
        if opened == t and not (existing and existing.in_service):
            capex += cool.fit_out_usd + cool.building_usd
            value += (
                cool.fit_out_usd * fin.cooling_residual_frac[t]
                + cool.building_usd * fin.building_residual_frac[t]
            )
        value += (
            sum(n * place[s].price_usd for (s, q), n in buy.items() if q == t)
            * fin.hardware_residual_frac[t]
        )
        value += (bought - before) * (share.usd if share else 0.0) * fin.hardware_residual_frac[t]
        value += added * site.block_usd * fin.power_residual_frac[t]
        billed = 0.0
        if site.demand_usd_per_kw_month > 0:
            ideal = (rated + net) * cool.peak_pue / 1000
            billed = max(ideal, site.minimum_take_frac * site.utility_mw[t] if open_ else 0.0)
        run_cost = (
            mwh * 1000 * site.usd_per_kwh[t] + billed * 1000 * 3 * site.demand_usd_per_kw_month
        )
        run_cost += sum(
            n
            * (
                place[s].maintenance_usd_per_quarter
                + place[s].rated_kw * site.opex_usd_per_kw_quarter
            )
            for s, n in racks[t].items()
        )
        run_cost += site.staff_usd_per_quarter if open_ else 0.0
        spend[t] = capex + run_cost + cloud
        paid[t] = spend[t] + (bought - before) * ((share.upper_usd - share.usd) if share else 0.0)
        paid[t] += freed if problem.margin_factor else 0.0
        if fin.budget_usd and sum(paid[: t + 1]) > sum(fin.budget_usd[: t + 1]) + 1e-3:
            return math.inf
    if site.max_t_per_year is not None and carbon > site.max_t_per_year * T / 4 + 1e-9:
        return math.inf
    npv = sum((x - sales[t]) * 1.1 ** -((t + 0.5) / 4) for t, x in enumerate(spend))
    return npv - value * 1.1 ** -(T / 4)


def _existing(
    existing: ExistingTerms | None, gone: int | None, quarters: int
) -> tuple[list[float], list[float], float]:
    """Payments for an order or its end, proceeds of a sale, worth at the end of the horizon."""
    fees, sales = [0.0] * quarters, [0.0] * quarters
    if existing is None:
        return fees, sales, 0.0
    if gone is None and existing.due_usd:
        fees[existing.first] += existing.racks * existing.due_usd
    if gone is not None and existing.cancel_usd is not None:
        fees[gone] += existing.racks * existing.cancel_usd
    elif gone is not None:
        sales[gone] = existing.racks * existing.resale_usd[gone]
    return fees, sales, existing.racks * existing.end_usd if gone is None else 0.0


def _connected(problem: PlanningProblem) -> int:
    """NIC ports of assets, whose network is paid."""
    ports = {p.system: p.ports for p in problem.placements}
    return sum(x.racks * ports[x.key[2]] for x in problem.existing if x.in_service)


def _freed_usd(fabric: FabricOption | None) -> float:
    """What the port of an ended asset spares a new one at most: all of its share but two optics
    and a cable."""
    if fabric is None or not fabric.tiers:
        return 0.0
    ports, share = next(iter(fabric.shares.items()))
    p = fabric.parts[ports]
    own = (
        p.leaf_optic_usd / p.leaf_optic_ports + p.node_optic_usd / p.node_optic_ports + p.cable_usd
    )
    return max(share.usd - fabric.designs[ports].planes * own, 0.0)


def _ports_cap(problem: PlanningProblem) -> int:
    return max(p.max_racks_unit * p.ports for p in problem.placements)


def fits(
    hall: HallTerms,
    place: Mapping[str, Placement],
    racks: Mapping[str, int],
    net_kw: float,
    net_racks: float,
    *,
    open_: bool,
) -> bool:
    """Whether one unit of a hall with one cooling holds racks by system, with their network."""
    cool = hall.coolings[0]
    if not open_:
        return not any(racks.values())
    total = sum(n * (place[s].rated_kw + place[s].overhead_kw) for s, n in racks.items())
    air = sum(n * place[s].air_kw for s, n in racks.items())
    liquid = sum(n * place[s].liquid_kw for s, n in racks.items())
    tiny = 1e-9
    return (
        all(n <= place[s].max_racks_unit for s, n in racks.items())
        and sum(n * place[s].slots for s, n in racks.items()) + net_racks <= hall.racks + tiny
        and (total + net_kw) / 1000 <= hall.it_mw + tiny
        and liquid / 1000 <= cool.liquid_mw + tiny
        and (air + net_kw) / 1000 <= cool.air_mw + tiny
    )


def blocks_of(site: SiteTerms, peak_mw: float, *, open_: bool) -> int:
    """Power blocks of a site for the peak of its new halls."""
    factor, spare = RULES[site.redundancy]
    if site.redundancy == "2n":
        return 2 * math.ceil(peak_mw / site.block_mw - 1e-9)
    blocks = math.ceil(factor * peak_mw / site.block_mw - 1e-9) + (spare if open_ else 0)
    if site.redundancy == "n" or not open_:
        return blocks
    return max(blocks, math.ceil(peak_mw / site.block_mw - 1e-9) + 1)  # any one block may fail


def _energy(
    problem: PlanningProblem, racks: dict[str, int], net_kw: float, run: RunOption | None, t: int
) -> tuple[float, float] | None:
    """Facility MWh, cloud and unmet USD of a quarter, demands placed where it is cheapest; None
    when not met."""
    site, cool = problem.sites[0], problem.halls[0].coolings[0]
    place = {p.system: p for p in problem.placements}
    kw = sum(n * place[s].idle_kw for s, n in racks.items()) + net_kw
    busy = dict.fromkeys(place, 0.0)
    cloud, existing = 0.0, 0.0
    price = problem.offers[0].usd_per_accelerator_hour[t]
    if run is not None:
        first, last = run.start_month * 30.4375, run.start_month * 30.4375 + run.days
        days = max(0.0, min(last, (t + 1) * 91.3125) - max(first, t * 91.3125))
        months = range(run.start_month, min(run.start_month + run.months, 3 * problem.quarters))
        here = any(m // 3 == t for m in months)
        if run.on_cloud:
            existing = run.accelerators if here else 0.0
            cloud += run.accelerators * days * 24 * price
        else:
            p = place[run.system]
            if here and run.accelerators > racks[run.system] * p.accelerators:
                return None
            busy[run.system] = run.accelerators * days / 91.3125
            kw += (p.training_kw - p.idle_kw) / p.accelerators * busy[run.system]
    if existing > min(problem.offers[0].max_accelerators, problem.cloud_max_accelerators or 10**9):
        return None
    for demand in problem.demands:
        left = demand.wanted[t]
        usd_kwh = site.usd_per_kwh[t] * cool.pue
        sources = [
            (
                demand.load_frac
                * (p.research_kw - p.idle_kw)
                / p.accelerators
                * HOURS
                * usd_kwh
                / demand.each[p.hall, s],
                demand.each[p.hall, s],
                s,
            )
            for s, p in place.items()
        ]
        sources.append(
            (
                HOURS * price / demand.each["cloud:o", "chip"],
                demand.each["cloud:o", "chip"],
                "cloud",
            )
        )
        if demand.unmet_usd is not None:
            sources.append((demand.unmet_usd, 1.0, "unmet"))
        for _, rate, s in sorted(sources):
            if s == "unmet":
                cloud, left = cloud + left * (demand.unmet_usd or 0.0), 0.0
                break
            room = (
                problem.offers[0].max_accelerators - existing
                if s == "cloud"
                else racks[s] * place[s].accelerators - busy[s]
            )
            used = min(max(room, 0.0), left / rate)
            left -= used * rate
            if s == "cloud":
                cloud += used * HOURS * price
            else:
                kw += (
                    demand.load_frac
                    * (place[s].research_kw - place[s].idle_kw)
                    / place[s].accelerators
                    * used
                )
        if left > 1e-6:
            return None
    return kw * cool.pue * HOURS / 1000, cloud

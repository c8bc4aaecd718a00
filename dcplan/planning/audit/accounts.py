"""Accounts of a plan: power, energy, water, carbon and every payment, by quarter.

They use the exact integer numbers of switches.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace

from dcplan.economics.cash_flow import (
    AssetClass,
    Charge,
    Driver,
    Flow,
    FlowGroup,
    Goods,
    Sharing,
    Unit,
)
from dcplan.planning.audit.energy.battery import response_flows
from dcplan.planning.audit.energy.carbon import carbon_flows
from dcplan.planning.audit.energy.contracts import contract_flows, tariff_mwh
from dcplan.planning.audit.energy.utilities import heat_flows, water_flows
from dcplan.planning.audit.existing import existing_flows
from dcplan.planning.audit.left import BUILDING, FIT_OUT, left
from dcplan.planning.audit.links import link_flows, link_kw
from dcplan.planning.audit.onsite import flows_of, generated_mw
from dcplan.planning.audit.rent.flows import cloud_flows
from dcplan.planning.audit.upgrades import upgrade_flows
from dcplan.planning.decisions import Decisions
from dcplan.planning.exact_network import EMPTY, Network, exact_network
from dcplan.planning.problem.terms import HallTerms, Placement, PlanningProblem, SiteTerms
from dcplan.planning.problem.work.terms import DemandTerms
from dcplan.units import (
    DAYS_PER_QUARTER,
    HOURS_PER_QUARTER,
    KW_PER_MW,
    L_PER_M3,
    MONTHS_PER_QUARTER,
)


@dataclass
class HallQuarter:
    """One hall type in one quarter."""

    racks: int = 0
    slots: float = 0.0
    stopped_slots: float = 0.0
    """Rack positions of racks that are out of service during works."""
    rated_kw: float = 0.0
    hall_kw: float = 0.0
    peak_kw: float = 0.0
    air_kw: float = 0.0
    liquid_kw: float = 0.0
    facility_mw: float = 0.0
    it_mwh: float = 0.0
    facility_mwh: float = 0.0
    water_l: float = 0.0
    racks_mw: float = 0.0
    """Rated power of the racks that are on, with cooling on the design day."""
    racks_mwh: float = 0.0
    """Energy of the racks, with cooling."""
    units: int = 0
    network: Network = EMPTY
    it_mwh_by_cooling: dict[str, float] = field(default_factory=dict)
    liquid_mwh_by_cooling: dict[str, float] = field(default_factory=dict)
    """Heat of liquid-cooled racks into the liquid."""


@dataclass
class Accounts:
    """All recomputed values of a plan."""

    halls: dict[tuple[str, int], HallQuarter] = field(default_factory=dict)
    ordered_networks: dict[tuple[str, int], Network] = field(default_factory=dict)
    """Network of the ordered racks that have not reached their end of life."""
    network_usd: dict[tuple[str, int], float] = field(default_factory=dict)
    """Network bought in a quarter; new racks buy again the network that ended with old racks."""
    parts_bought: dict[tuple[str, int], dict[str, int]] = field(default_factory=dict)
    """Switches and transceivers of the network bought in a quarter."""
    pieces_bought: dict[tuple[str, int], dict[tuple[str, str], int]] = field(default_factory=dict)
    """All parts of the network bought in a quarter, by NIC class and role."""
    network_kw_bought: dict[tuple[str, int], float] = field(default_factory=dict)
    """Power of the switches and optics bought in a quarter."""
    flows: list[Flow] = field(default_factory=list)

    def site(self, problem: PlanningProblem, site: str, t: int, what: str) -> float:
        """Return the sum of a hall value over a site."""
        return sum(
            float(getattr(a, what))
            for (h, q), a in self.halls.items()
            if q == t and problem.hall(h).site == site
        )

    def heat_sources(
        self, problem: PlanningProblem, site: str
    ) -> dict[int, list[tuple[float, float]]]:
        """Return temperature and energy of the heat of liquid-cooled racks of a site, by quarter."""
        found: dict[int, list[tuple[float, float]]] = {t: [] for t in range(problem.quarters)}
        for (key, t), a in self.halls.items():
            hall = problem.hall(key)
            if hall.site != site:
                continue
            for cooling, mwh in a.liquid_mwh_by_cooling.items():
                heat_c = hall.cooling(cooling).heat_c
                if heat_c is not None:
                    found[t].append((heat_c, mwh))
        return found

    def total(self, what: str) -> float:
        """Return the sum of a hall value over all halls and quarters."""
        return sum(float(getattr(a, what)) for a in self.halls.values())


def make_accounts(problem: PlanningProblem, d: Decisions) -> Accounts:
    """Recompute all accounts of a plan."""
    books = Accounts()
    for hall in problem.halls:
        keys = [p.key for p in problem.placements if p.hall == hall.id]
        for t in range(problem.quarters):
            chosen = d.fabric.get(hall.id)
            serving = exact_network(
                problem, hall.id, chosen, {key: d.racks(problem, key, t) for key in keys}
            )
            kept = {key: d.racks_kept(problem, key, t) for key in keys}
            live = {key: n + d.racks_new(problem, key, t) for key, n in kept.items()}
            bought = exact_network(problem, hall.id, chosen, live)
            books.ordered_networks[hall.id, t] = bought
            before = exact_network(problem, hall.id, chosen, kept)
            books.network_usd[hall.id, t] = bought.usd - before.usd
            books.network_kw_bought[hall.id, t] = bought.kw - before.kw
            books.parts_bought[hall.id, t] = {
                "switches": sum(bought.switches.values()) - sum(before.switches.values()),
                "transceivers": bought.transceivers - before.transceivers,
            }
            books.pieces_bought[hall.id, t] = {
                key: bought.parts.get(key, 0) - before.parts.get(key, 0)
                for key in {**bought.parts, **before.parts}
            }
            books.halls[hall.id, t] = _hall_quarter(problem, d, hall, t, serving)
    books.flows = [
        *_capex(problem, d, books),
        *_running(problem, d, books),
        *cloud_flows(problem, d),
        *link_flows(problem, d),
        *upgrade_flows(problem, d),
    ]
    books.flows += [flow for site in problem.sites for flow in flows_of(problem, d, site)]
    for site in problem.sites:
        books.flows += contract_flows(problem, d, site)
        books.flows += response_flows(problem, d, site)
        energy = {
            t: books.site(problem, site.id, t, "facility_mwh") for t in range(problem.quarters)
        }
        books.flows += carbon_flows(problem, d, site, energy)
        books.flows += heat_flows(site, books.heat_sources(problem, site.id))
        water = {
            t: books.site(problem, site.id, t, "water_l") / L_PER_M3
            for t in range(problem.quarters)
        }
        books.flows += water_flows(site, water)
    books.flows += [
        Flow(
            t,
            FlowGroup.UNSERVED,
            c.id,
            usd * d.unmet.get((c.id, t), 0.0),
            asset=AssetClass.OTHER,
            shared=Sharing(Driver.USER, user=c.id),
        )
        for c, usd, t in _priced(problem)
    ]
    books.flows += left(problem, d, books.flows)
    return books


def _hall_quarter(
    problem: PlanningProblem, d: Decisions, hall: HallTerms, t: int, network: Network
) -> HallQuarter:
    a = HallQuarter(network=network)
    a.units = sum(d.fitted.get((hall.id, c.id, t), 0) for c in hall.coolings)
    by_cooling: dict[str, float] = defaultdict(float)
    for place in problem.placements:
        if place.hall != hall.id:
            continue
        n = d.racks(problem, place.key, t)
        if not n:
            continue
        a.racks += n * place.slots
        a.slots += n * place.slots
        a.stopped_slots += (n - d.powered(problem, place.key, t)) * place.slots
        n = d.powered(problem, place.key, t)
        a.rated_kw += n * place.rated_kw
        a.hall_kw += n * (place.rated_kw + place.overhead_kw)
        a.peak_kw += n * place.peak_kw
        a.air_kw += n * place.air_kw
        a.liquid_kw += n * place.liquid_kw
        by_cooling[place.cooling] += n * place.rated_kw
        cooling = hall.cooling(place.cooling)
        a.facility_mw += n * place.rated_kw * cooling.peak_pue / KW_PER_MW
        mwh = _energy_mwh(problem, d, place, n, t)
        _count(a, place.cooling, mwh)
        into = a.liquid_mwh_by_cooling
        heat = mwh * place.liquid_kw / place.rated_kw
        into[place.cooling] = into.get(place.cooling, 0.0) + heat
        a.facility_mwh += mwh * cooling.pue
        a.water_l += mwh * KW_PER_MW * cooling.wue_l_per_kwh
    a.racks_mw, a.racks_mwh = a.facility_mw, a.facility_mwh
    own_kw, own_racks = storage_of(problem, d, hall, t) if a.units else (0.0, 0.0)
    extra = network.kw + own_kw + link_kw(problem, d, hall.id, t)
    a.slots += network.racks + own_racks
    a.rated_kw += extra
    a.hall_kw += extra
    a.peak_kw += extra
    a.air_kw += extra
    shares = _shares(by_cooling, d, hall, t)
    for key, share in shares.items():
        cooling = hall.cooling(key)
        mwh = extra * share * HOURS_PER_QUARTER / KW_PER_MW
        a.facility_mw += extra * share * cooling.peak_pue / KW_PER_MW
        _count(a, key, mwh)
        a.facility_mwh += mwh * cooling.pue
        a.water_l += mwh * KW_PER_MW * cooling.wue_l_per_kwh
    return a


def _count(a: HallQuarter, cooling: str, mwh: float) -> None:
    """Add IT energy of a cooling option."""
    a.it_mwh += mwh
    a.it_mwh_by_cooling[cooling] = a.it_mwh_by_cooling.get(cooling, 0.0) + mwh


def storage_of(
    problem: PlanningProblem, d: Decisions, hall: HallTerms, t: int
) -> tuple[float, float]:
    """Return power and racks of a hall's storage [kW], [-].

    It includes the given storage and the storage of the racks.
    """
    racks = [(p, d.racks(problem, p.key, t)) for p in problem.placements if p.hall == hall.id]
    kw = hall.storage_kw + sum(n * p.storage_kw for p, n in racks)
    return kw, hall.storage_racks + sum(n * p.storage_racks for p, n in racks)


def _shares(
    by_cooling: dict[str, float], d: Decisions, hall: HallTerms, t: int
) -> dict[str, float]:
    """Return the cooling shares of switches and storage, in proportion to rated rack power."""
    total = sum(by_cooling.values())
    if total > 0:
        return {key: kw / total for key, kw in by_cooling.items()}
    units = {c.id: d.fitted.get((hall.id, c.id, t), 0) for c in hall.coolings}
    fitted = sum(units.values())
    return {key: n / fitted for key, n in units.items() if n} if fitted else {}


def _energy_mwh(
    problem: PlanningProblem, d: Decisions, place: Placement, racks: int, t: int
) -> float:
    training = d.training.get((*place.key, t), 0.0)
    kw = racks * place.idle_average_kw
    kw += (place.training_kw - place.idle_average_kw) * training / place.accelerators
    kw += sum(
        place.serving_kw(c) * d.serving.get((c.id, *place.key, t), 0.0) for c in problem.demands
    )
    return kw * HOURS_PER_QUARTER / KW_PER_MW


def _bought(
    problem: PlanningProblem,
    quarter: int,
    asset: AssetClass,
    line: str,
    usd: float,
    site: str,
    shared: Sharing,
    goods: Goods,
) -> Flow:
    owned = replace(goods, life_months=problem.finance.life_months(asset))
    return Flow(quarter, FlowGroup.CAPEX, line, usd, site, asset=asset, shared=shared, goods=owned)


def _capex(problem: PlanningProblem, d: Decisions, books: Accounts) -> list[Flow]:
    flows = []
    placed = {p.key: p for p in problem.placements}
    site_of = {h.id: h.site for h in problem.halls}
    given = [(key, 0, 0, n) for key, n in d.fleet.items()]
    orders = [((h, c, k), t, placed[h, c, k].lead, n) for (h, c, k, t), n in d.ordered.items()]
    serving: dict[tuple[str, int], int] = {}  # first quarter in service by hall and order quarter
    for key, t, lead, n in (*given, *orders):
        place, where, first = placed[key], site_of[key[0]], t + lead
        serving[key[0], t] = min(first, serving.get((key[0], t), first))
        use = Sharing(Driver.HOURS, key, serves=(first, first + problem.finance.life_quarters))
        racks = Goods(place.system, n, Unit.RACK, key[0], first)
        line, usd = f"racks {place.system}", n * place.rack_usd(t)
        flows.append(_bought(problem, t, AssetClass.RACKS, line, usd, where, use, racks))
        usd = n * place.storage_usd
        lot = Goods("storage", 1 if usd else 0, Unit.LOT, key[0], first)
        flows.append(_bought(problem, t, AssetClass.STORAGE, "storage", usd, where, use, lot))
    for hall in problem.halls:
        if hall.storage_usd:
            use = Sharing(Driver.HOURS, (hall.id,), serves=(0, problem.quarters))
            usd, lot = hall.storage_usd, Goods("storage", 1, Unit.LOT, hall.id, 0)
            flows.append(
                _bought(problem, 0, AssetClass.STORAGE, "storage", usd, hall.site, use, lot)
            )
        for t in range(problem.quarters):
            added = books.network_usd[hall.id, t]
            if added:
                use = Sharing(Driver.PORTS, (hall.id,), serves=(t, problem.quarters))
                lot = Goods(d.fabric[hall.id], 1, Unit.LOT, hall.id, serving.get((hall.id, t), t))
                flows.append(
                    _bought(problem, t, AssetClass.NETWORK, "network", added, hall.site, use, lot)
                )
            flows += _fitting(problem, d, hall, t)
    flows += existing_flows(problem, d)
    for site in problem.sites:
        for t in range(problem.quarters):
            new = d.blocks.get((site.id, t), 0) - (d.blocks.get((site.id, t - 1), 0) if t else 0)
            if new:
                usd, blocks = new * site.block_usd, Goods("power-block", new, Unit.BLOCK, "", t)
                use = Sharing(Driver.RATED, serves=(t, problem.quarters))
                flows.append(
                    _bought(problem, t, AssetClass.POWER, "power blocks", usd, site.id, use, blocks)
                )
    return flows


def _fitting(problem: PlanningProblem, d: Decisions, hall: HallTerms, t: int) -> list[Flow]:
    flows, use = [], Sharing(Driver.RATED, (hall.id,), serves=(t, problem.quarters))
    for c in hall.coolings:
        before = d.fitted.get((hall.id, c.id, t - 1), 0) if t else hall.existing_units.get(c.id, 0)
        new = d.fitted.get((hall.id, c.id, t), 0) - before
        if new:
            usd, fitted = new * c.fit_out_usd, Goods(c.id, new, Unit.HALL, hall.id, t)
            cooling = AssetClass.COOLING
            flows.append(_bought(problem, t, cooling, FIT_OUT, usd, hall.site, use, fitted))
            if c.building_usd:
                usd, shell = new * c.building_usd, replace(fitted, item=BUILDING)
                building = AssetClass.BUILDING
                flows.append(_bought(problem, t, building, BUILDING, usd, hall.site, use, shell))
    return flows


def _running(problem: PlanningProblem, d: Decisions, books: Accounts) -> list[Flow]:
    flows = []
    for site in problem.sites:
        for t in range(problem.quarters):
            mwh = books.site(problem, site.id, t, "facility_mwh")
            kwh = Goods("grid", tariff_mwh(d, site, mwh, t) * KW_PER_MW, Unit.KWH)
            usd = kwh.quantity * site.usd_per_kwh[t]
            energy, grid = FlowGroup.ENERGY, AssetClass.GRID_ENERGY
            use = Sharing(Driver.ENERGY)
            flows.append(Flow(t, energy, "energy", usd, site.id, asset=grid, shared=use, goods=kwh))
            used = any(books.halls[h.id, t].units for h in problem.halls if h.site == site.id)
            flows += _site_running(problem, d, books, site, t, used=used)
    return [f for f in flows if f.usd]


def _site_running(
    problem: PlanningProblem, d: Decisions, books: Accounts, site: SiteTerms, t: int, *, used: bool
) -> list[Flow]:
    flows, level = [], problem.finance.level(t)

    def pay(group: FlowGroup, line: str, usd: float, by: Driver, goods: Goods, *place: str) -> None:
        use, other = Sharing(by, place), AssetClass.OTHER
        flows.append(Flow(t, group, line, usd, site.id, asset=other, shared=use, goods=goods))

    if site.demand_usd_per_kw_month > 0:
        peak = books.site(problem, site.id, t, "facility_mw") - generated_mw(d, site, t)
        billed = max(peak, site.minimum_take_frac * site.utility_mw[t] if used else 0.0)
        months = Goods("grid", billed * KW_PER_MW * MONTHS_PER_QUARTER, Unit.KW_MONTH)
        usd = level * months.quantity * site.demand_usd_per_kw_month
        pay(FlowGroup.ENERGY, Charge.DEMAND, usd, Driver.PEAK, months)
    if used:
        months = Goods("staff", MONTHS_PER_QUARTER, Unit.SITE_MONTH)
        pay(FlowGroup.OPEX, Charge.STAFF, level * site.staff_usd_per_quarter, Driver.RATED, months)
        months = Goods("land", MONTHS_PER_QUARTER, Unit.SITE_MONTH)
        pay(FlowGroup.OPEX, Charge.LAND_TAX, site.land_tax_usd_per_quarter, Driver.RATED, months)
    for place in problem.placements:
        hall = problem.hall(place.hall)
        if hall.site != site.id:
            continue
        n = d.racks(problem, place.key, t)
        if n:
            usd = level * n * place.maintenance_usd_per_quarter
            months = Goods(place.system, n * MONTHS_PER_QUARTER, Unit.RACK_MONTH, hall.id)
            pay(FlowGroup.OPEX, Charge.MAINTENANCE, usd, Driver.HOURS, months, *place.key)
            kw = d.powered(problem, place.key, t) * place.rated_kw
            usd = level * kw * site.opex_usd_per_kw_quarter
            months = Goods(place.system, kw * MONTHS_PER_QUARTER, Unit.KW_MONTH, hall.id)
            pay(FlowGroup.OPEX, Charge.FACILITY, usd, Driver.RATED, months, *place.key)
    if site.lease_usd_per_kw_month:
        for hall in (h for h in problem.halls if h.site == site.id):
            kw = books.halls[hall.id, t].units * hall.it_mw * KW_PER_MW
            usd = kw * site.lease_usd_per_kw_month[t] * MONTHS_PER_QUARTER
            months = Goods("lease", kw * MONTHS_PER_QUARTER, Unit.KW_MONTH, hall.id)
            pay(FlowGroup.OPEX, Charge.LEASE, usd, Driver.RATED, months, hall.id)
    return flows


def _priced(problem: PlanningProblem) -> list[tuple[DemandTerms, float, int]]:
    """Return the demands that may stay unserved at a price, by quarter."""
    return [
        (c, c.unmet_usd, t)
        for c in problem.demands
        if c.unmet_usd is not None
        for t in range(problem.quarters)
    ]


def overlap_days(first_day: float, days: float, t: int) -> float:
    """Return the days of a run in a quarter.

    Examples
    --------
    >>> overlap_days(0.0, 100.0, 0), overlap_days(0.0, 100.0, 1)
    (91.3125, 8.6875)
    """
    begin, end = t * DAYS_PER_QUARTER, (t + 1) * DAYS_PER_QUARTER
    return max(0.0, min(first_day + days, end) - max(first_day, begin))

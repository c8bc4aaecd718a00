"""Racks, power, energy and water of one hall type in one quarter."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from dcplan.planning.audit.links import link_kw
from dcplan.planning.decisions import Decisions
from dcplan.planning.exact_network import EMPTY, Network
from dcplan.planning.problem.terms import HallTerms, Placement, PlanningProblem
from dcplan.units import HOURS_PER_QUARTER, KW_PER_MW


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
    idle_mw: float = 0.0
    """Idle power of the racks that are on, with cooling on the design day."""
    idle_mwh: float = 0.0
    """Energy of the same racks if all of them idled, with cooling."""
    pump_mw: float = 0.0
    """Power of the heat pump for sold heat that the site carries, at rated power of the racks."""
    units: int = 0
    network: Network = EMPTY
    it_mwh_cooled: dict[tuple[str, str], float] = field(default_factory=dict)
    """By cooling option and system; network and storage have no system."""
    liquid_mwh_by_cooling: dict[str, float] = field(default_factory=dict)
    """Heat of liquid-cooled racks into the liquid."""

    @property
    def load_mw(self) -> float:
        """Return the load of the hall on the site's connection, plants and batteries [MW]."""
        return self.facility_mw + self.pump_mw


def hall_quarter(
    problem: PlanningProblem, d: Decisions, hall: HallTerms, t: int, network: Network
) -> HallQuarter:
    """Add up the racks of a hall with its network and storage, each cooled as the racks around it."""
    a = HallQuarter(network=network)
    a.units = sum(d.fitted.get((hall.id, c.id, t), 0) for c in hall.coolings)
    by_cooling: dict[str, float] = defaultdict(float)
    season = problem.season(t)
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
        a.pump_mw += _pump_mw(problem, hall, place, n, t)
        by_cooling[place.cooling] += n * place.rated_kw
        cooled = problem.cooled(place.key)
        a.facility_mw += n * place.rated_kw * cooled.peak_pue / KW_PER_MW
        a.idle_mw += n * place.idle_average_kw * cooled.peak_pue / KW_PER_MW
        idle_mwh = n * place.idle_average_kw * HOURS_PER_QUARTER / KW_PER_MW
        a.idle_mwh += idle_mwh * cooled.pue_at(season)
        mwh = _energy_mwh(problem, d, place, n, t)
        _count(a, place.cooling, place.system, mwh)
        into = a.liquid_mwh_by_cooling
        heat = mwh * place.liquid_kw / place.rated_kw
        into[place.cooling] = into.get(place.cooling, 0.0) + heat
        a.facility_mwh += mwh * cooled.pue_at(season)
        a.water_l += mwh * KW_PER_MW * cooled.wue_at(season)
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
        cooled = hall.cooling(key).other
        mwh = extra * share * HOURS_PER_QUARTER / KW_PER_MW
        a.facility_mw += extra * share * cooled.peak_pue / KW_PER_MW
        _count(a, key, "", mwh)
        a.facility_mwh += mwh * cooled.pue_at(season)
        a.water_l += mwh * KW_PER_MW * cooled.wue_at(season)
    return a


def _pump_mw(
    problem: PlanningProblem, hall: HallTerms, place: Placement, racks: int, t: int
) -> float:
    """Return the power of the heat pump for the heat that racks give to the liquid at rated power [MW]."""
    site, heat_c = problem.site(hall.site), hall.cooling(place.cooling).heat_c
    if site.heat is None or heat_c is None:
        return 0.0
    each = site.heat.pump_mw_per_mw(heat_c, site.usd_per_kwh[t], t)
    return each * racks * place.liquid_kw / KW_PER_MW


def _count(a: HallQuarter, cooling: str, system: str, mwh: float) -> None:
    """Add IT energy of a system under a cooling option."""
    a.it_mwh += mwh
    a.it_mwh_cooled[cooling, system] = a.it_mwh_cooled.get((cooling, system), 0.0) + mwh


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
    """Return the IT energy of racks in a quarter: idle, with training and serving above it."""
    training = d.training.get((*place.key, t), 0.0)
    kw = racks * place.idle_average_kw
    kw += (place.training_kw - place.idle_average_kw) * training / place.accelerators
    kw += sum(
        place.serving_kw(c) * d.serving.get((c.id, *place.key, t), 0.0) for c in problem.demands
    )
    return kw * HOURS_PER_QUARTER / KW_PER_MW

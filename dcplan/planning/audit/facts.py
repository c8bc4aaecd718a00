"""Check of placements and taxes against catalog and scenario, without the planning problem."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dcplan.catalog.schema import Accelerator, CoolingOption, Parameter, System
from dcplan.economics.cash_flow import AssetClass
from dcplan.planning.problem.terms import Placement, PlanningProblem
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Site
from dcplan.units import QUARTERS_PER_YEAR

PLANTS = (AssetClass.BUILDING, AssetClass.COOLING, AssetClass.POWER)
"""Classes with a rate of property tax of their own."""


@dataclass(frozen=True)
class Facts:
    """Recomputed values of one rack."""

    accelerators: int
    rated_kw: float
    peak_kw: float
    training_kw: float
    research_kw: float
    idle_kw: float
    idle_average_kw: float
    air_kw: float
    liquid_kw: float
    overhead_kw: float
    price_usd: float
    ports: int
    domain: int
    weight_kg: float

    def compare(self, place: Placement) -> Iterable[tuple[str, float, float]]:
        """Yield name, recomputed value and planned value."""
        for name in self.__dataclass_fields__:
            yield name, float(getattr(self, name)), float(getattr(place, name))


def facts_of(place: Placement, question: Question) -> Facts:
    """Recompute a rack from the system row, the cooling row and the class ratios of the catalog."""
    catalog = question.catalog
    row = catalog.get("systems", place.system, System)
    cooling = catalog.get("cooling", place.cooling, CoolingOption)
    own = row.own_network
    own_kw, own_usd = (_value(own.kw), _value(own.usd)) if own else (0.0, 0.0)
    fans, extra_usd = _conversion(row, cooling, question)
    rated = (_value(row.rated_kw) + own_kw) * (1 - fans)
    liquid_share = 0.0
    if cooling.tank:
        liquid_share = 1.0
    elif {"liquid"} <= set(row.cooling_modes) & set(cooling.accepts):
        liquid_share = _value(row.liquid_frac)
    liquid = rated * liquid_share
    air = rated - liquid

    def average(name: str) -> float:
        given = getattr(row.average_kw, name)
        return (
            (given.value + own_kw) * (1 - fans)
            if given
            else rated * catalog.get("power", f"average-{name}-frac", Parameter).value.value
        )

    over = catalog.get("power", "peak-over-rated", Parameter).value.value
    peak = (row.peak_kw.value + own_kw) * (1 - fans) if row.peak_kw else rated * over
    n = place.nodes
    fleet = question.scenario.fleet
    busy = 0.0
    if (
        fleet
        and fleet.utilization_frac
        and catalog.get("systems", fleet.system, System).id == row.id
    ):
        busy = fleet.utilization_frac.value
    return Facts(
        accelerators=row.accelerators * n,
        rated_kw=rated * n,
        peak_kw=peak * n,
        training_kw=average("training") * n,
        research_kw=average("research") * n,
        idle_kw=average("idle") * n,
        idle_average_kw=(average("idle") + busy * (average("training") - average("idle"))) * n,
        air_kw=air * n,
        liquid_kw=liquid * n,
        overhead_kw=(_value(cooling.cdu_frac) * liquid + _value(cooling.fan_frac) * air) * n,
        price_usd=(_value(row.price_usd) + own_usd + extra_usd) * n,
        ports=(row.scaleout_ports or 0) * n,
        domain=row.accelerators
        if row.form == "server"
        else catalog.get("accelerators", row.accelerator, Accelerator).scaleup_domain or 1,
        weight_kg=_value(row.weight_kg) * n
        + (_value(cooling.tank.filled_kg) if cooling.tank else 0),
    )


def _conversion(row: System, cooling: CoolingOption, question: Question) -> tuple[float, float]:
    """Return the share of power of fans that a tank makes needless, and the price to remove them."""
    if not cooling.tank or "immersion" in row.cooling_modes or "air" not in row.cooling_modes:
        return 0.0, 0.0
    names = ("server-fan-air-frac", "tank-conversion-usd")
    fans, usd = (question.catalog.get("facility", x, Parameter).value.value for x in names)
    return (row.fan_frac.value if row.fan_frac else fans), usd


def _value(quantity: object) -> float:
    return float(getattr(quantity, "value", 0.0))


def _rate(question: Question, number: int, name: str) -> float:
    """Return a rate of tax at a site: its own, else that of all sites, else 0."""
    scenario = question.scenario
    for given in (scenario.sites[number].tax, scenario.finance.tax):
        rate = getattr(given, name, None)
        if rate is not None:
            return _value(rate)
    return 0.0


def _land_usd(site: Site) -> float:
    """Return the assessed value of land, else its price."""
    if site.land_usd is not None or site.land is None:
        return _value(site.land_usd)
    return _value(site.land.usd) or _value(site.land.area_m2) * _value(site.land.usd_per_m2)


def _taxes(problem: PlanningProblem, question: Question) -> Iterator[tuple[str, float, float]]:
    """Yield name, rate of the scenario and planned rate of each tax of each site."""
    terms, planned_sites = problem.finance.financing, {s.id: s for s in problem.sites}
    for i, given in enumerate(question.scenario.sites):
        site = planned_sites.get(given.id)
        if site is None:
            yield f"sites named {given.id}", 1.0, 0.0
            continue
        land = _rate(question, i, "land_property_tax_frac_per_year") * _land_usd(given)
        yield f"{site.id} tax on land", land / QUARTERS_PER_YEAR, site.land_tax_usd_per_quarter
        if terms is None:
            continue
        own = terms.at(site.id)
        used = {x.asset: x.rate_frac_per_year for x in own.plant_taxes}
        planned = {
            "sales_tax": own.sales_tax_frac,
            "property_tax": own.property_tax_frac_per_year,
            **{f"{x.value}_property_tax": used.get(x, 0.0) for x in PLANTS},
        }
        for name, rate in planned.items():
            field = f"{name}_frac" if name == "sales_tax" else f"{name}_frac_per_year"
            yield f"{site.id} {field}", _rate(question, i, field), rate


def differences(
    problem: PlanningProblem, question: Question, keys: Iterable[tuple[str, str, str]]
) -> list[str]:
    """Return the values of a plan's placements and taxes that do not follow from catalog and scenario."""
    wanted = set(keys)
    found = [
        f"{name}: plan {used:g}, scenario {fresh:g}"
        for name, fresh, used in _taxes(problem, question)
        if abs(fresh - used) > 1e-9 * max(1.0, abs(fresh))
    ]
    for place in problem.placements:
        if place.key in wanted:
            for name, fresh, used in facts_of(place, question).compare(place):
                if abs(fresh - used) > 1e-9 * max(1.0, abs(fresh)):
                    found.append(f"{'/'.join(place.key)} {name}: plan {used:g}, catalog {fresh:g}")
    return found

"""Enumerate purchases of a tiny menu at two sites with taxes of their own, and price each without dcplan.

Each site has one new hall with a building and a fit-out, two systems, one fabric; the demand may be
given up.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from dcplan.economics.cash_flow import AssetClass
from dcplan.economics.monthly.financing import Debt, Financing, PlantTax, SiteTaxes
from dcplan.economics.monthly.payments import Milestones
from dcplan.planning.goal import AFTER_TAX, Goal
from dcplan.planning.problem.terms import FinanceTerms, HallTerms, PlanningProblem, SupplyTerms
from dcplan.planning.problem.work.terms import DemandTerms
from tests.planning.tiny import COOLING, SITE, fabric, placement

HOURS, T = 91.3125 * 24, 6
MONTHS = 3 * T
MACRS = (0.2, 0.32, 0.192, 0.1152, 0.1152, 0.0576)
SITES = ("a", "b")
LIVES = {"racks": 5.0, "building": 20.0, "cooling": 12.0}
Rates = Mapping[str, float]
"""Rate of sales tax, and of property tax on racks, buildings and cooling."""


@dataclass(frozen=True)
class Choice:
    """Racks by site, system and quarter of the order, and the quarter in which each hall is fitted."""

    buy: Mapping[tuple[str, str, int], int]
    fit: Mapping[str, int]


def site_taxes(site: str, rates: Rates) -> SiteTaxes:
    """Return the rates of a site in the form of dcplan."""
    plants = (
        PlantTax(asset, rates[asset.value], LIVES[asset.value])
        for asset in (AssetClass.BUILDING, AssetClass.COOLING)
    )
    return SiteTaxes(site, rates["sales"], rates["racks"], tuple(plants))


def rates_of(problem: PlanningProblem, site: str) -> Rates:
    """Return the rates of a site: its own, else those of all sites."""
    terms = problem.finance.financing
    assert terms is not None
    own: SiteTaxes | Financing = next((x for x in terms.site_taxes if x.site == site), terms)
    plants = {x.asset.value: x.rate_frac_per_year for x in own.plant_taxes}
    found = {"sales": own.sales_tax_frac, "racks": own.property_tax_frac_per_year}
    return {"building": 0.0, "cooling": 0.0} | plants | found


def menu(seed: int) -> PlanningProblem:
    """Two sites with random prices; one or both have random rates of their own.

    With payment terms both systems have one lead time: the model then knows the delivery of a network.
    """
    rng = np.random.default_rng(4100 + seed)
    placed, halls, sites, fabrics = [], [], [], []
    terms = _terms(rng)
    leads = (1, 1) if terms.milestones else (0, 1)
    system = {
        s: placement("a/h", s, rng, lead=i) for s, i in zip(("alpha", "beta"), leads, strict=True)
    }
    option = fabric("a/h", "eth", rng)
    option = replace(option, reach=dict.fromkeys(option.reach, 2048))
    cooling = replace(
        COOLING, building_usd=float(rng.uniform(2e4, 3e5)), fit_out_usd=float(rng.uniform(2e4, 2e5))
    )
    for site in SITES:
        hall = f"{site}/h"
        price = float(rng.uniform(0.05, 0.12))
        sites.append(replace(SITE, id=site, utility_mw=(9.0,) * T, usd_per_kwh=(price,) * T))
        halls.append(HallTerms(hall, site, "h", 1, 20, 5.0, False, 0, False, (cooling,)))
        placed += [replace(p, hall=hall, max_racks_unit=9) for p in system.values()]
        fabrics.append(replace(option, hall=hall))
    each = {(f"{s}/h", k): x for s in SITES for k, x in (("alpha", 0.3), ("beta", 0.4))}
    wanted = tuple(float(x) for x in rng.uniform(2.0, 20.0, T))
    keep = tuple(float(x) for x in np.linspace(0.35, 0.8, T))
    problem = PlanningProblem(
        start="2027-Q1",
        quarters=T,
        sites=tuple(sites),
        halls=tuple(halls),
        placements=tuple(placed),
        fabrics=tuple(fabrics),
        jobs=(),
        run_options=(),
        demands=(DemandTerms("research", wanted, each, unmet_usd=float(rng.uniform(6e4, 3e5))),),
        offers=(),
        supply=(
            SupplyTerms("alpha", (2.0, 0.0, 1.0, 0.0, 0.0, 0.0)),
            SupplyTerms("beta", (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)),
        ),
        finance=FinanceTerms(0.1, 20, None, None, *(keep,) * 4),
        orderable=frozenset(system),
        goal=Goal(AFTER_TAX),
    )
    return replace(problem, finance=replace(problem.finance, financing=terms))


def _rates(rng: np.random.Generator) -> Rates:
    drawn = {name: float(rng.uniform(0.0, 0.03)) for name in LIVES}
    return {"sales": float(rng.uniform(0.0, 0.12)), **drawn}


def _terms(rng: np.random.Generator) -> Financing:
    own = tuple(site_taxes(s, _rates(rng)) for s in SITES if s == "b" or rng.random() < 0.5)
    general = site_taxes("", _rates(rng))
    due = Milestones(float(rng.uniform(0, 0.4)), int(rng.integers(1, 9)), 0.1, 2)
    return Financing(
        0.1,
        LIVES["racks"],
        float(rng.uniform(0.0, 0.4)),
        MACRS,
        (1 / 39,) * 39,
        general.sales_tax_frac,
        general.property_tax_frac_per_year,
        due if rng.random() < 0.4 else None,
        Debt(float(rng.uniform(0.0, 0.9)), 0.07, int(rng.integers(6, 40))),
        general.plant_taxes,
        own,
    )


def choices(problem: PlanningProblem) -> Iterator[Choice]:
    """Every number of racks of every order at every site, and every quarter to fit its hall."""
    lead = {p.system: p.lead for p in problem.placements}
    orders = [(s.system, q, int(n)) for s in problem.supply for q, n in enumerate(s.racks) if n]
    each = [
        [pair for pair in itertools.product(range(n + 1), repeat=len(SITES)) if sum(pair) <= n]
        for _, _, n in orders
    ]
    for point in itertools.product(*each):
        buy = {
            (site, system, q): n
            for (system, q, _), pair in zip(orders, point, strict=True)
            for site, n in zip(SITES, pair, strict=True)
            if n
        }
        first = {s: min((q + lead[k] for x, k, q in buy if x == s), default=None) for s in SITES}
        ways = [[None] if t is None else list(range(t + 1)) for t in first.values()]
        for fit in itertools.product(*ways):
            yield Choice(buy, {s: t for s, t in zip(SITES, fit, strict=True) if t is not None})


@dataclass
class Payments:
    """Payments of a choice in USD: capital by site and class, by quarter of payment."""

    capital: dict[tuple[str, str], list[float]]
    running: list[float]
    unserved: list[float]
    left: float


def payments(problem: PlanningProblem, x: Choice) -> Payments:
    """Payments of a choice; the formulas are those of docs/method/planning.md."""
    place = {(p.hall[0], p.system): p for p in problem.placements}
    share = next(iter(problem.fabrics[0].shares.values()))
    keep, terms = problem.finance.hardware_residual_frac, problem.finance.financing
    assert terms is not None
    found = Payments(defaultdict(lambda: [0.0] * T), [0.0] * T, [0.0] * T, 0.0)
    for (site, system, q), n in x.buy.items():
        p = place[site, system]
        when = min(q + p.lead, T - 1) if terms.milestones else q
        usd = n * (p.price_usd + p.ports * share.usd)
        found.left += keep[q] * usd
        found.capital[site, "racks"][when] += n * p.price_usd
        found.capital[site, "racks"][when] += n * p.ports * share.usd
    cooling = problem.halls[0].coolings[0]
    for site, t in x.fit.items():
        found.capital[site, "building"][t] += cooling.building_usd
        found.capital[site, "cooling"][t] += cooling.fit_out_usd
        found.left += keep[t] * (cooling.building_usd + cooling.fit_out_usd)
    for t in range(T):
        _running(problem, x, t, found)
    return found


def _running(problem: PlanningProblem, x: Choice, t: int, found: Payments) -> None:
    """Add energy and upkeep of a quarter, with the demand served where its energy costs least."""
    (demand,) = problem.demands
    share = next(iter(problem.fabrics[0].shares.values()))
    price = {s.id: s.usd_per_kwh[t] for s in problem.sites}
    work, left = [], demand.wanted[t]
    for p in problem.placements:
        site = p.hall[0]
        n = sum(
            m for (s, k, q), m in x.buy.items() if (s, k) == (site, p.system) and q + p.lead <= t
        )
        if not n:
            continue
        idle = n * (p.idle_kw + p.ports * share.kw) * 1.2 * HOURS * price[site]
        upkeep = n * (p.maintenance_usd_per_quarter + p.rated_kw * SITE.opex_usd_per_kw_quarter)
        found.running[t] += idle + upkeep
        kw = (p.research_kw - p.idle_kw) / p.accelerators
        rate = demand.each[p.hall, p.system]
        work.append((kw * 1.2 * HOURS * price[site] / rate, n * p.accelerators * rate))
    for usd, most in sorted(work):
        used = min(most, left)
        left -= used
        found.running[t] += usd * used
    assert demand.unmet_usd is not None
    found.unserved[t] = left * demand.unmet_usd


def after_tax_usd(problem: PlanningProblem, x: Choice) -> float:
    """Present cost by month after sales, property and income tax, payment terms and debt."""
    terms, y, years = problem.finance.financing, payments(problem, x), -(-MONTHS // 12)
    assert terms is not None
    assert terms.debt is not None
    tax = terms.income_rate_frac
    equipment, building, bought = np.zeros(MONTHS), np.zeros(MONTHS), np.zeros(MONTHS)
    deductible, moved = np.repeat(np.array(y.running) / 3, 3), 0.0
    for (site, kind), by_quarter in y.capital.items():
        rates, paid = rates_of(problem, site), np.zeros(MONTHS)
        paid[::3] = by_quarter
        bought += paid
        basis = paid * (1 + rates["sales"]) if kind == "racks" else paid
        if kind == "building":
            building += basis
        else:
            equipment += basis
        for year in range(years):
            start = 12 * year
            ages = (start - np.arange(start + 1)) / 12
            value = float(np.maximum(1 - ages / LIVES[kind], 0) @ basis[: start + 1])
            end = min(start + 12, MONTHS)
            deductible[end - 1] += rates[kind] * value * (end - start) / 12
        if terms.milestones and kind == "racks":
            moved += sum(_moved_usd(terms.milestones, m, usd) for m, usd in enumerate(basis))
    interest, service, owed = _loan(terms.debt, bought)
    written = sum(
        np.array([sum(_year(basis, b) * share[n - b] for b in range(n + 1)) for n in range(years)])
        for basis, share in ((equipment, MACRS), (building, (1 / 39,) * 39))
    )
    basis_usd = float(equipment.sum() + building.sum())
    npv = moved
    for year in range(years):
        gain = y.left - (basis_usd - float(np.sum(written))) if year == years - 1 else 0.0
        income = gain - _year(deductible, year) - written[year] - _year(interest, year)
        npv += tax * income * _factor(min(12 * year + 12, MONTHS) - 1)
    unserved = np.repeat(np.array(y.unserved) / 3, 3)
    cash = equipment + building + deductible + unserved + service
    npv += sum(float(usd) * _factor(m) for m, usd in enumerate(cash))
    return npv + (owed - y.left) * 1.1 ** (-MONTHS / 12)


def _factor(month: int) -> float:
    return 1.1 ** (-(month + 0.5) / 12)


def _year(values: np.ndarray, year: int) -> float:
    return float(values[12 * year : 12 * year + 12].sum())


def _moved_usd(due: Milestones, month: int, usd: float) -> float:
    """Return what payment terms change of the present value of a payment."""
    early = due.deposit_frac * (_factor(month - due.deposit_months_before) - _factor(month))
    late = due.acceptance_frac * (_factor(month + due.acceptance_months_after) - _factor(month))
    return usd * (early + late)


def _loan(terms: Debt, bought: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return interest and service less new debt by month, and what is owed at the end."""
    interest, service, owed, i = np.zeros(MONTHS), np.zeros(MONTHS), 0.0, terms.rate_per_year / 12
    for m, usd in enumerate(bought):
        debt = terms.share_frac * float(usd)
        level = debt * i / (1 - (1 + i) ** -terms.term_months)
        service[m] -= debt
        for k in range(m + 1, min(m + terms.term_months + 1, MONTHS)):
            interest[k] += debt * i
            service[k] += level
            debt += debt * i - level
        owed += debt if MONTHS - 1 - m < terms.term_months else 0.0
    return interest, service, owed * (1 + i) ** 0.5

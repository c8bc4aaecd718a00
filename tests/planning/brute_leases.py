"""Enumerate orders and leases of a tiny menu, and price each before and after taxes without dcplan.

One existing hall without limits that bind, two systems, one fabric, a demand that may be given up.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from dcplan.economics.monthly.financing import Debt, Financing
from dcplan.planning.problem.terms import (
    FinanceTerms,
    HallTerms,
    LeaseTerms,
    PlanningProblem,
    SupplyTerms,
)
from dcplan.planning.problem.work.terms import DemandTerms
from tests.planning.tiny import COOLING, SITE, fabric, placement

HOURS, T = 91.3125 * 24, 6
Order = tuple[str, int]
MACRS = (0.2, 0.32, 0.192, 0.1152, 0.1152, 0.0576)


@dataclass(frozen=True)
class Choice:
    """Racks by order, and how many of them under each lease."""

    buy: Mapping[Order, int]
    leased: Mapping[tuple[Order, str], int]


def lease_menu(seed: int, *, budget: bool = False) -> PlanningProblem:
    """Two systems that may be ordered in few quarters, with a short and a long lease."""
    rng = np.random.default_rng(500 + seed)
    placed = [
        replace(placement("s/h", s, rng, lead=lead), max_racks_unit=9)
        for s, lead in (("alpha", 0), ("beta", 1))
    ]
    hall = HallTerms("s/h", "s", "h", 1, 20, 5.0, True, 0, False, (COOLING,))
    site = replace(SITE, utility_mw=(9.0,) * T, usd_per_kwh=(0.08,) * T)
    each = {("s/h", "alpha"): 0.3, ("s/h", "beta"): 0.4}
    wanted = tuple(float(x) for x in rng.uniform(2.0, 20.0, T))
    demand = DemandTerms("research", wanted, each, unmet_usd=float(rng.uniform(3e4, 1.2e5)))
    frac = float(rng.uniform(0.02, 0.07))
    leases = (
        LeaseTerms("short", frozenset({"alpha"}), 2, frac * 1.4),
        LeaseTerms("long", frozenset({"alpha", "beta"}), 5, frac),
    )
    keep = tuple(float(x) for x in np.linspace(0.35, 0.8, T))
    finance = FinanceTerms(
        0.1, 20, None, tuple(rng.uniform(0.1e6, 0.8e6, T)) if budget else None, *(keep,) * 4
    )
    finance = replace(finance, leases=leases)
    option = fabric("s/h", "eth", rng)
    option = replace(option, reach=dict.fromkeys(option.reach, 2048))
    return PlanningProblem(
        start="2027-Q1",
        quarters=T,
        sites=(site,),
        halls=(hall,),
        placements=tuple(placed),
        fabrics=(option,),
        jobs=(),
        run_options=(),
        demands=(demand,),
        offers=(),
        supply=(
            SupplyTerms("alpha", (2.0, 0.0, 1.0, 0.0, 0.0, 0.0)),
            SupplyTerms("beta", (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)),
        ),
        finance=finance,
        orderable=frozenset({"alpha", "beta"}),
    )


def taxed(problem: PlanningProblem, seed: int) -> PlanningProblem:
    """The menu with random taxes and debt."""
    rng = np.random.default_rng(900 + seed)
    terms = Financing(
        0.1,
        5.0,
        float(rng.uniform(0.1, 0.4)),
        MACRS,
        (1 / 39,) * 39,
        float(rng.uniform(0.0, 0.1)),
        debt=Debt(float(rng.uniform(0.0, 0.9)), 0.07, int(rng.integers(6, 40))),
    )
    return replace(problem, finance=replace(problem.finance, financing=terms))


def choices(problem: PlanningProblem) -> Iterator[Choice]:
    """Every number of racks of every order, and every division of it into bought and leased."""
    orders = [(s.system, q) for s in problem.supply for q, n in enumerate(s.racks) if n]
    most = {(s.system, q): int(n) for s in problem.supply for q, n in enumerate(s.racks)}
    each = []
    for order in orders:
        names = [x.id for x in problem.finance.leases if order[0] in x.systems]
        each.append(
            [
                (order, n, dict(zip(names, parts, strict=True)))
                for n in range(most[order] + 1)
                for parts in itertools.product(range(n + 1), repeat=len(names))
                if sum(parts) <= n
            ]
        )
    for point in itertools.product(*each):
        yield Choice(
            {order: n for order, n, _ in point},
            {(order, name): n for order, _, parts in point for name, n in parts.items() if n},
        )


@dataclass
class Payments:
    """Payments of a choice by quarter, in USD."""

    capital: list[float]
    running: list[float]
    unserved: list[float]
    later: list[float]
    """After the horizon."""
    left: float
    budget: list[float]


def payments(problem: PlanningProblem, x: Choice) -> Payments:
    """Payments of a choice; the formulas are those of docs/method/planning.md."""
    place = {p.system: p for p in problem.placements}
    term = {y.id: y for y in problem.finance.leases}
    share = next(iter(problem.fabrics[0].shares.values()))
    parts = next(iter(problem.fabrics[0].parts.values()))
    own = parts.leaf_optic_usd / parts.leaf_optic_ports + parts.node_optic_usd
    freed = max(share.usd - own - parts.cable_usd, 0.0)
    keep, site, demand = (
        problem.finance.hardware_residual_frac,
        problem.sites[0],
        problem.demands[0],
    )
    found = Payments([0.0] * T, [0.0] * T, [0.0] * T, [0.0] * 12, 0.0, [0.0] * T)
    free = 0
    for t in range(T):
        racks, back = dict.fromkeys(place, 0), 0
        for (s, q), n in x.buy.items():
            racks[s] += n if q + place[s].lead <= t else 0
        for ((s, q), name), n in x.leased.items():
            end = q + place[s].lead + term[name].quarters
            racks[s] -= n if end <= t else 0
            back += n * place[s].ports if end == t else 0
        free += back
        owned = 0.0
        for (s, q), n in x.buy.items():
            away = sum(m for (order, _), m in x.leased.items() if order == (s, q))
            owned += (n - away) * place[s].price_usd if q == t else 0.0
        new = sum(n * place[s].ports for (s, q), n in x.buy.items() if q == t)
        reused = min(free, new)
        free -= reused
        network = new * share.usd - reused * freed
        found.capital[t] = owned + network
        found.left += keep[t] * (owned + network)
        left, kw = demand.wanted[t], sum(n * place[s].idle_kw for s, n in racks.items())
        kw += sum(n * place[s].ports for s, n in racks.items()) * share.kw
        work = {s: (p.research_kw - p.idle_kw) / p.accelerators for s, p in place.items()}
        for s in sorted(place, key=lambda s: work[s] / demand.each["s/h", s]):
            rate = demand.each["s/h", s]
            used = min(racks[s] * place[s].accelerators, left / rate)
            left, kw = left - used * rate, kw + work[s] * used
        assert demand.unmet_usd is not None
        found.unserved[t] = left * demand.unmet_usd
        upkeep = sum(
            n * (p.maintenance_usd_per_quarter + p.rated_kw * site.opex_usd_per_kw_quarter)
            for s, n in racks.items()
            for p in (place[s],)
        )
        found.running[t] = kw * 1.2 * HOURS * site.usd_per_kwh[t] + upkeep
    for ((s, q), name), n in x.leased.items():
        first = q + place[s].lead
        for t in range(first, first + term[name].quarters):
            paid = 3 * n * place[s].price_usd * term[name].usd_frac_per_month
            if t < T:
                found.running[t] += paid
            else:
                found.later[t - T] += paid
    upper = [
        sum(n * place[s].ports for (s, q), n in x.buy.items() if q == t) * share.upper_usd
        for t in range(T)
    ]
    ideal = [
        sum(n * place[s].ports for (s, q), n in x.buy.items() if q == t) * share.usd
        for t in range(T)
    ]
    for t in range(T):
        found.budget[t] = found.capital[t] + found.running[t] + upper[t] - ideal[t]
    return found


def before_tax_usd(problem: PlanningProblem, x: Choice) -> float:
    """Present cost before taxes; infinite beyond the budget."""
    y, limit = payments(problem, x), problem.finance.budget_usd
    if limit is not None and any(
        sum(y.budget[: t + 1]) > sum(limit[: t + 1]) + 1e-3 for t in range(T)
    ):
        return math.inf
    paid = [a + b + c for a, b, c in zip(y.capital, y.running, y.unserved, strict=True)]
    return sum(
        usd * 1.1 ** -((t + 0.5) / 4) for t, usd in enumerate([*paid, *y.later])
    ) - y.left * 1.1 ** (-T / 4)


def after_tax_usd(problem: PlanningProblem, x: Choice) -> float:
    """Present cost by month after sales tax, income tax and debt."""
    terms, y, months = problem.finance.financing, payments(problem, x), 3 * T
    assert terms is not None
    assert terms.debt is not None
    tax, years = terms.income_rate_frac, -(-months // 12)
    capital = [y.capital[m // 3] if m % 3 == 0 else 0.0 for m in range(months)]
    running = [y.running[m // 3] / 3 for m in range(months)]
    value = [y.unserved[m // 3] / 3 for m in range(months)]
    basis = [usd * (1 + terms.sales_tax_frac) for usd in capital]
    interest, service, owed = [0.0] * months, [0.0] * months, 0.0
    i = terms.debt.rate_per_year / 12
    for m, usd in enumerate(capital):
        debt = terms.debt.share_frac * usd
        level = debt * i / (1 - (1 + i) ** -terms.debt.term_months)
        service[m] -= debt
        for k in range(m + 1, min(m + terms.debt.term_months + 1, months)):
            interest[k] += debt * i
            service[k] += level
            debt += debt * i - level
        owed += debt if months - 1 - m < terms.debt.term_months else 0.0
    owed *= (1 + i) ** 0.5

    def of_year(values: list[float], year: int) -> float:
        return sum(values[12 * year : 12 * year + 12])

    written = [
        sum(of_year(basis, b) * MACRS[year - b] for b in range(year + 1)) for year in range(years)
    ]
    npv = 0.0
    for year in range(years):
        gain = y.left - (sum(basis) - sum(written)) if year == years - 1 else 0.0
        income = gain - of_year(running, year) - written[year] - of_year(interest, year)
        end = min(12 * year + 12, months) - 1
        npv += tax * income * 1.1 ** (-(end + 0.5) / 12)
    paid = [a + b + c + d for a, b, c, d in zip(basis, running, value, service, strict=True)]
    npv += sum(usd * 1.1 ** (-(m + 0.5) / 12) for m, usd in enumerate(paid))
    for t, usd in enumerate(y.later):
        for m in range(3 * (T + t), 3 * (T + t) + 3):
            npv += usd / 3 * (1 - tax) * 1.1 ** (-(m + 0.5) / 12)
    return npv + (owed - y.left) * 1.1 ** (-months / 12)

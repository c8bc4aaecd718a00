"""Tiny random menus of a campus of two halls and a second site, with one battery and one contract for power."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from dcplan.planning.problem.contracts import ContractTerms
from dcplan.planning.problem.energy import BatteryTerms, OnsiteTerms
from dcplan.planning.problem.terms import PlanningProblem, SiteTerms
from tests.planning.tiny_sites import sites_menu

FLAT = (1.0,) * 8760


def campus_menus() -> Iterator[PlanningProblem]:
    """Menus of two sites, one with two halls, each with one battery and one flat contract."""
    seed = 0
    while True:
        menu = sites_menu(seed)
        if len(menu.halls) == 3:
            yield _with_sources(menu, np.random.default_rng(50_000 + seed))
        seed += 1


def _with_sources(problem: PlanningProblem, rng: np.random.Generator) -> PlanningProblem:
    """The battery at one site and the contract at the same or the other; rent is on demand."""
    stores, signs = (str(x) for x in rng.choice(["s", "r"], 2))
    sites = []
    for site in problem.sites:
        tranches = tuple(replace(y, hours_per_year=y.hours_per_year or 20.0) for y in site.tranches)
        own = replace(site, tranches=tranches)
        own = _with_battery(own, rng) if site.id == stores else own
        terms = (_contract(site, rng),) if site.id == signs else ()
        sites.append(replace(own, contracts=terms))
    offers = tuple(
        replace(
            o,
            committed=(),
            on_demand=True,
            usd_per_accelerator_hour=_paid(o.usd_per_accelerator_hour),
        )
        for o in problem.offers
    )
    return replace(problem, sites=tuple(sites), offers=offers)


def _paid(usd: tuple[float, ...]) -> tuple[float, ...]:
    """The price on demand; an offer with commitments alone has none, and gets one."""
    return tuple(x or 4.0 for x in usd)


def _with_battery(site: SiteTerms, rng: np.random.Generator) -> SiteTerms:
    """The site with a battery in the place of a plant; it carries interruptions of most tranches."""
    battery = OnsiteTerms(
        "cells",
        unit_mw=float(rng.uniform(0.01, 0.04)),
        usd=float(rng.uniform(100.0, 2e3)),
        fixed_usd_per_quarter=50.0,
        usd_per_mwh=0.0,
        g_per_kwh=0.0,
        lead=int(rng.integers(0, 2)),
        most_units=2,
        spare_units=0,
        battery=BatteryTerms(
            hours=float(rng.choice([2.0, 4.0])),
            round_trip_frac=float(rng.choice([0.7, 0.85])),
            available_frac=float(rng.choice([0.95, 1.0])),
            peak_h=None if rng.random() < 0.2 else float(rng.choice([2.0, 4.0, 8.0])),
        ),
    )
    tranches = tuple(
        replace(y, event_h=float(rng.choice([1.0, 6.0])) if rng.random() < 0.9 else None)
        for y in site.tranches
    )
    return replace(site, onsite=(battery,), tranches=tranches, demand_usd_per_kw_month=9.0)


def _contract(site: SiteTerms, rng: np.random.Generator) -> ContractTerms:
    """A flat contract near the price of the tariff, whose surplus sells for less than both."""
    price, tariff = float(rng.uniform(10.0, 100.0)), 1e3 * min(site.usd_per_kwh)
    sold = float(rng.choice([0.0, 0.5])) * min(price, tariff - 5.0)
    usd, surplus, delivery = ((x,) * len(site.usd_per_kwh) for x in (price, sold, 5.0))
    step_mw = float(rng.choice([0.02, 0.05]))
    return ContractTerms(
        "base", step_mw, 2, usd, surplus, delivery, FLAT, first=int(rng.random() < 0.3)
    )

"""Tiny random menus for brute force: one site, one or two halls, one or two systems, two or three
quarters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dcplan.fabric.bom import Parts
from dcplan.fabric.effective import LinkSpeed
from dcplan.fabric.topology.design import ClosDesign, design
from dcplan.inputs.cloud_prices import OfferTerms
from dcplan.planning.problem.terms import (
    CoolingTerms,
    FabricOption,
    FinanceTerms,
    HallTerms,
    NetworkShare,
    Placement,
    PlanningProblem,
    PortClass,
    SiteTerms,
    SupplyTerms,
)
from dcplan.planning.problem.work.terms import DemandTerms, JobTerms, RunOption
from dcplan.units import DAYS_PER_QUARTER

PORTS = PortClass(400.0, ("ethernet",), 4)
FAST = LinkSpeed(400.0)
RACK_UNITS = 36.0
"""Height of a rack of switches."""
OFFER = ("cloud:o", "chip")
"""Place and accelerator of the cloud offer."""
COOLING = CoolingTerms(
    "cool",
    air_mw=10.0,
    liquid_mw=10.0,
    pue=1.2,
    peak_pue=1.35,
    wue_l_per_kwh=1.0,
    fit_out_usd=0.0,
    building_usd=0.0,
)
"""Cooling that never binds and costs nothing."""
SITE = SiteTerms(
    id="s",
    utility_mw=(),
    usd_per_kwh=(),
    demand_usd_per_kw_month=0.0,
    minimum_take_frac=0.0,
    grid_g_per_kwh=300.0,
    max_t_per_year=None,
    max_l_per_year=None,
    redundancy="n",
    block_mw=0.05,
    block_usd=4e4,
    lease_usd_per_kw_month=None,
    staff_usd_per_quarter=0.0,
    opex_usd_per_kw_quarter=80.0,
)
"""A site without demand charge; a menu gives its power and prices by quarter."""


def placement(hall: str, system: str, rng: np.random.Generator, *, lead: int) -> Placement:
    """One system in a hall: 8 to 32 accelerators a rack."""
    accelerators = int(rng.choice([8, 16, 32]))
    rated = float(rng.uniform(15, 60))
    liquid = float(rng.choice([0.0, 0.7])) * rated
    return Placement(
        hall=hall,
        cooling="cool",
        system=system,
        accelerator="chip",
        accelerators=accelerators,
        nodes=accelerators // 8,
        slots=1,
        rated_kw=rated,
        peak_kw=rated * 1.2,
        idle_kw=rated * 0.3,
        idle_average_kw=rated * 0.3,
        training_kw=rated * 0.8,
        research_kw=rated * 0.6,
        air_kw=rated - liquid,
        liquid_kw=liquid,
        overhead_kw=rated * 0.02,
        weight_kg=500.0,
        ports=accelerators,
        rails=8,
        port_class=PORTS,
        price_usd=float(rng.uniform(0.3e6, 2e6)),
        maintenance_usd_per_quarter=float(rng.uniform(1e3, 2e4)),
        lead=lead,
        first_order=0,
        max_racks_unit=2,
        fit_reason="tiny",
    )


def tree(
    hall: str, name: str, plan: ClosDesign, parts: Parts, share: NetworkShare, reach: int
) -> FabricOption:
    """A fabric of two tiers without a rounding margin."""
    return FabricOption(
        hall=hall,
        id=f"{name}/2t",
        family=name,
        tiers=2,
        protocol="ethernet",
        topology="rail-optimized",
        speeds={PORTS: FAST},
        designs={PORTS: plan},
        parts={PORTS: parts},
        shares={PORTS: share},
        reach={PORTS: reach},
        switch_models=("s", "s", "s"),
        switch_racks_units=RACK_UNITS,
    )


def fabric(hall: str, name: str, rng: np.random.Generator) -> FabricOption:
    """A fabric with random shares: the model's own numbers are what is tested."""
    usd, kw = float(rng.uniform(1e3, 6e3)), float(rng.uniform(0.02, 0.15))
    share = NetworkShare(usd, kw, 0.001, usd * 1.2, kw * 1.2, 0.002)
    parts = Parts(1e4, 1e4, 1e4, 0.5, 0.5, 0.5, 1.0, 500.0, 0.015, 2, 300.0, 0.009, 50.0)
    return tree(hall, name, design(64, 2), parts, share, int(rng.choice([32, 64, 2048])))


def tiny_menu(seed: int) -> PlanningProblem:
    """A random instance small enough to enumerate, rich enough to bind every kind of row."""
    rng = np.random.default_rng(seed)
    quarters = int(rng.choice([2, 3]))
    systems = ["alpha", "beta"][: int(rng.integers(1, 3))]
    lead = {s: int(rng.integers(0, 2)) for s in systems}
    new = bool(rng.integers(0, 2))
    cooling = replace(
        COOLING,
        air_mw=float(rng.uniform(0.03, 0.2)),
        liquid_mw=float(rng.uniform(0.03, 0.2)),
        fit_out_usd=float(rng.uniform(1e4, 3e5)),
        building_usd=float(rng.uniform(1e5, 1e6)) if new else 0.0,
    )
    hall = HallTerms(
        "s/h",
        "s",
        "h",
        1,
        3,
        float(rng.uniform(0.05, 0.2)),
        not new,
        int(rng.integers(0, 2)),
        new,
        (cooling,),
    )
    placed = [placement("s/h", s, rng, lead=lead[s]) for s in systems]
    site = replace(
        SITE,
        utility_mw=tuple(float(x) for x in rng.uniform(0.06, 0.3, quarters)),
        usd_per_kwh=tuple(float(x) for x in rng.uniform(0.05, 0.15, quarters)),
        demand_usd_per_kw_month=float(rng.choice([0.0, 9.0])),
        minimum_take_frac=float(rng.choice([0.0, 0.85])),
        max_t_per_year=float(rng.choice([np.inf, 200.0])) if rng.random() < 0.5 else None,
        redundancy=str(rng.choice(["n", "n+1", "2n", "4n/3"])),
        staff_usd_per_quarter=float(rng.choice([0.0, 2e4])),
    )
    jobs, run_options = _job(placed, quarters, rng)
    demands, offers = _research(placed, quarters, rng)
    budget = (
        None if rng.random() < 0.5 else tuple(float(x) for x in rng.uniform(1e6, 4e6, quarters))
    )
    supply = (
        () if rng.random() < 0.5 else (SupplyTerms("alpha", tuple(1.0 for _ in range(quarters))),)
    )
    falling = tuple(float(x) for x in np.linspace(0.6, 0.9, quarters))
    return PlanningProblem(
        start="2027-Q1",
        quarters=quarters,
        sites=(site,),
        halls=(hall,),
        placements=tuple(placed),
        fabrics=(fabric("s/h", "slow", rng), fabric("s/h", "fast", rng)),
        jobs=jobs,
        run_options=run_options,
        demands=demands,
        offers=offers,
        supply=supply,
        finance=FinanceTerms(0.1, 20, None, budget, falling, falling, falling, falling),
        orderable=frozenset(systems),
        cloud_max_accelerators=64,
    )


def _job(
    placed: list[Placement], quarters: int, rng: np.random.Generator
) -> tuple[tuple[JobTerms, ...], tuple[RunOption, ...]]:
    if rng.random() < 0.25:
        return (), ()
    run_options = []
    for p in placed:
        for start in (0, 3):
            n = int(rng.integers(1, 3)) * p.accelerators
            days = float(rng.uniform(10, 89))
            run_options.append(run_option(p.hall, p.system, n, days, start, FAST))
    rng.random()  # unused; without it, every seed would have another menu
    run_options.append(run_option(*OFFER, 24, 60.0, 0, LinkSpeed(0.0)))
    return (JobTerms("job", 0, quarters * DAYS_PER_QUARTER, None, 0.8, ("s",)),), tuple(run_options)


def run_option(
    place: str, system: str, n: int, days: float, start: int, link: LinkSpeed
) -> RunOption:
    """A run of the job on ``n`` accelerators from month ``start``."""
    return RunOption("job", place, system, "chip", n, link, "bf16", days, days, start, {}, 0.4, 1.0)


def _research(
    placed: list[Placement], quarters: int, rng: np.random.Generator
) -> tuple[tuple[DemandTerms, ...], tuple[OfferTerms, ...]]:
    price = float(rng.uniform(1.0, 6.0))
    offers = (OfferTerms("o", "chip", tuple(price for _ in range(quarters)), 48, "r", ""),)
    if rng.random() < 0.3:
        return (), offers
    each = {(p.hall, p.system): float(rng.uniform(200, 900)) * 0.5 / 1000 for p in placed}
    each[OFFER] = 0.2
    demand = tuple(float(x) for x in rng.uniform(0.0, 14.0, quarters))
    return (DemandTerms("research", demand, each),), offers

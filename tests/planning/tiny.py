"""Tiny random menus for brute force: one site, one or two halls, one or two systems, two or three
quarters."""

from __future__ import annotations

import numpy as np

from dcplan.fabric.bom import Parts
from dcplan.fabric.effective import LinkSpeed
from dcplan.fabric.topology.design import design
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
        embodied_t=1.0,
        fit_reason="tiny",
    )


def fabric(hall: str, name: str, rng: np.random.Generator) -> FabricOption:
    """A fabric with random shares and no rounding margin: the model's own numbers are what is
    tested."""
    usd, kw = float(rng.uniform(1e3, 6e3)), float(rng.uniform(0.02, 0.15))
    share = NetworkShare(usd, kw, 0.001, usd * 1.2, kw * 1.2, 0.002)
    parts = Parts(1e4, 1e4, 1e4, 0.5, 0.5, 0.5, 1.0, 500.0, 0.015, 2, 300.0, 0.009, 50.0)
    return FabricOption(
        hall=hall,
        id=name,
        family=name,
        tiers=2,
        protocol="ethernet",
        topology="rail-optimized",
        speeds={PORTS: LinkSpeed(400.0)},
        designs={PORTS: design(64, 2)},
        parts={PORTS: parts},
        shares={PORTS: share},
        reach={PORTS: int(rng.choice([32, 64, 2048]))},
        switch_models=("s", "s", "s"),
        switch_racks_units=36.0,
    )


def tiny_menu(seed: int) -> PlanningProblem:
    """A random instance small enough to enumerate, rich enough to bind every kind of row."""
    rng = np.random.default_rng(seed)
    quarters = int(rng.choice([2, 3]))
    systems = ["alpha", "beta"][: int(rng.integers(1, 3))]
    lead = {s: int(rng.integers(0, 2)) for s in systems}
    new = bool(rng.integers(0, 2))
    cooling = CoolingTerms(
        "cool",
        air_mw=float(rng.uniform(0.03, 0.2)),
        liquid_mw=float(rng.uniform(0.03, 0.2)),
        pue=1.2,
        peak_pue=1.35,
        wue_l_per_kwh=1.0,
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
    site = SiteTerms(
        id="s",
        utility_mw=tuple(float(x) for x in rng.uniform(0.06, 0.3, quarters)),
        usd_per_kwh=tuple(float(x) for x in rng.uniform(0.05, 0.15, quarters)),
        demand_usd_per_kw_month=float(rng.choice([0.0, 9.0])),
        minimum_take_frac=float(rng.choice([0.0, 0.85])),
        grid_g_per_kwh=300.0,
        max_t_per_year=float(rng.choice([np.inf, 200.0])) if rng.random() < 0.5 else None,
        max_l_per_year=None,
        redundancy=str(rng.choice(["n", "n+1", "2n", "4n/3"])),
        block_mw=0.05,
        block_usd=4e4,
        lease_usd_per_kw_month=None,
        staff_usd_per_quarter=float(rng.choice([0.0, 2e4])),
        opex_usd_per_kw_quarter=80.0,
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
        fabrics=(fabric("s/h", "slow/2t", rng), fabric("s/h", "fast/2t", rng)),
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
            run_options.append(_config(p.hall, p.system, n, float(rng.uniform(10, 89)), start))
    run_options.append(_config("cloud:o", "chip", 24, 60.0, 0, usd=float(rng.uniform(1, 6))))
    return (JobTerms("job", 0, quarters * DAYS_PER_QUARTER, None, 0.8, ("s",)),), tuple(run_options)


def _config(
    place: str, system: str, n: int, days: float, start: int, usd: float = 0.0
) -> RunOption:
    link = LinkSpeed(0.0 if place.startswith("cloud:") else 400.0)
    return RunOption(
        "job", place, system, "chip", n, link, "bf16", days, days, start, {}, 0.4, 1.0, usd
    )


def _research(
    placed: list[Placement], quarters: int, rng: np.random.Generator
) -> tuple[tuple[DemandTerms, ...], tuple[OfferTerms, ...]]:
    price = float(rng.uniform(1.0, 6.0))
    offers = (OfferTerms("o", "chip", tuple(price for _ in range(quarters)), 48, "r", ""),)
    if rng.random() < 0.3:
        return (), offers
    each = {(p.hall, p.system): float(rng.uniform(200, 900)) * 0.5 / 1000 for p in placed}
    each["cloud:o", "chip"] = 0.2
    demand = tuple(float(x) for x in rng.uniform(0.0, 14.0, quarters))
    return (DemandTerms("research", demand, each),), offers

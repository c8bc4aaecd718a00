"""Tiny random menus of two sites: tranches, commitments, plants, assets, orders, jobs and demands."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dcplan.fabric.bom import Parts
from dcplan.fabric.effective import LinkSpeed
from dcplan.fabric.topology.design import design
from dcplan.inputs.cloud_prices import CommitTerms, OfferTerms
from dcplan.planning.problem.energy import OnsiteTerms, TrancheTerms
from dcplan.planning.problem.existing.fit_out import with_existing_fit_out
from dcplan.planning.problem.fabrics.trees import max_ports, share, su_margin
from dcplan.planning.problem.terms import (
    ExistingTerms,
    FabricOption,
    FinanceTerms,
    HallTerms,
    Placement,
    PlanningProblem,
    SiteTerms,
    SupplyTerms,
)
from dcplan.planning.problem.work.terms import DemandTerms, JobTerms, RunOption
from dcplan.units import DAYS_PER_QUARTER
from tests.planning.tiny import (
    COOLING,
    FAST,
    OFFER,
    PORTS,
    RACK_UNITS,
    SITE,
    placement,
    run_option,
    tree,
)

SLOW = LinkSpeed(200.0)


def sites_menu(seed: int) -> PlanningProblem:
    """A random instance of two sites, small enough to enumerate with integer switch counts."""
    rng = np.random.default_rng(seed)
    quarters = int(rng.choice([2, 2, 3]))
    systems = ["alpha", "beta"][: int(rng.integers(1, 3)) if quarters == 2 else 1]
    halls = [_hall(f"{s}/h", rng) for s in ("s", "r")]
    if len(systems) == 1 and rng.random() < 0.4:
        halls.append(_hall("r/i", rng))
    lead = {k: int(rng.integers(0, 2)) for k in systems}
    placed = [_rack(h, k, lead[k], rng) for h in halls for k in systems]
    sites = tuple(_site(s, quarters, rng) for s in ("s", "r"))
    offers = _offers(quarters, rng)
    jobs, run_options = _job(placed, quarters, rng)
    falling = tuple(float(x) for x in np.linspace(0.5, 0.85, quarters))
    budget = tuple(float(x) for x in rng.uniform(0.1e6, 0.6e6, quarters))
    supply = SupplyTerms("alpha", tuple(float(rng.integers(1, 3)) for _ in range(quarters)))
    problem = PlanningProblem(
        start="2027-Q1",
        quarters=quarters,
        sites=sites,
        halls=tuple(halls),
        placements=tuple(placed),
        fabrics=tuple(f for h in halls for f in _fabrics(h.id, placed, rng)),
        jobs=jobs,
        run_options=run_options,
        demands=_demands(placed, quarters, rng),
        offers=offers,
        supply=(supply,) if rng.random() < 0.4 else (),
        finance=FinanceTerms(
            0.1,
            20,
            None,
            budget if rng.random() < 0.3 else None,
            falling,
            falling,
            falling,
            falling,
        ),
        orderable=frozenset(systems),
        cloud_max_accelerators=12 if rng.random() < 0.3 else None,
    )
    return _with_existing(problem, rng)


def _hall(key: str, rng: np.random.Generator) -> HallTerms:
    """A hall of one unit, in part new, that holds few racks."""
    new = bool(rng.integers(0, 2))
    cooling = replace(
        COOLING,
        air_mw=float(rng.uniform(0.06, 0.25)),
        liquid_mw=float(rng.uniform(0.04, 0.2)),
        fit_out_usd=float(rng.uniform(1e4, 1e5)),
        building_usd=float(rng.uniform(5e4, 3e5)) if new else 0.0,
    )
    site, name = key.split("/")
    it_mw, first = float(rng.uniform(0.08, 0.2)), int(rng.random() < 0.2)
    racks = int(rng.integers(2, 5))  # switches take a part of one position
    return HallTerms(key, site, name, 1, racks, it_mw, not new, first, new, (cooling,))


def _rack(hall: HallTerms, system: str, lead: int, rng: np.random.Generator) -> Placement:
    """A cheap rack; as many as the empty hall holds."""
    made = placement(hall.id, system, rng, lead=lead)
    size, slots = int(rng.choice([8, 16, 32])), int(rng.choice([1, 1, 2]))
    made = replace(
        made,
        price_usd=float(rng.uniform(10e3, 150e3)),
        accelerators=size,
        nodes=size // 8,
        ports=size,
        slots=slots,
        maintenance_usd_per_quarter=float(rng.uniform(1e3, 5e3)),
    )
    cool = hall.coolings[0]
    limits = [
        (hall.racks, slots),
        (1e3 * hall.it_mw, made.rated_kw + made.overhead_kw),
        (1e3 * cool.air_mw, made.air_kw),
        (1e3 * cool.liquid_mw, made.liquid_kw),
    ]
    most = min(int(room // each) for room, each in limits if each > 0)
    return replace(made, max_racks_unit=most)


def _fabrics(hall: str, placed: list[Placement], rng: np.random.Generator) -> list[FabricOption]:
    """One or two trees whose shares and margins follow from their parts."""
    own = [p for p in placed if p.hall == hall]
    found = []
    for name, speed in (("slow", SLOW), ("fast", FAST))[int(rng.integers(0, 2)) :]:
        usd = float(rng.uniform(0.5e3, 8e3)) * (1.0 if speed == SLOW else 1.3)
        kw = float(rng.uniform(0.1, 0.8))
        parts = Parts(usd, usd, usd, kw, kw, kw, 1.0, 300.0, 0.01, 2, 200.0, 0.009, 50.0)
        plan = design(int(rng.choice([32, 64])), 2)
        margin = max(
            (su_margin(plan, parts, p, RACK_UNITS) for p in own), key=lambda m: (m.usd, m.kw)
        )
        shares = share(plan, parts, PORTS.nodes_per_su, RACK_UNITS)
        made = tree(hall, name, plan, parts, shares, max_ports({PORTS: plan}, own))
        found.append(
            replace(
                made,
                speeds={PORTS: speed},
                margin_usd=margin.usd,
                margin_kw=margin.kw,
                margin_racks=margin.racks,
            )
        )
    return found


def _site(key: str, quarters: int, rng: np.random.Generator) -> SiteTerms:
    """A site whose firm power is short in many instances, with tranches and a plant in about half."""
    plant = OnsiteTerms(
        "engine",
        unit_mw=float(rng.uniform(0.03, 0.06)),
        usd=float(rng.uniform(5e3, 4e4)),
        fixed_usd_per_quarter=500.0,
        usd_per_mwh=float(rng.choice([30.0, 100.0, 400.0])),
        g_per_kwh=float(rng.choice([0.0, 450.0])),
        lead=int(rng.integers(0, 2)),
        most_units=2,
        spare_units=int(rng.integers(0, 2)),
    )
    hours = [float(x) for x in rng.choice([0.0, 87.66, 876.6, 2629.8], 2, replace=False)]
    tranches = [
        TrancheTerms(
            f"flex{i}", tuple(float(x) for x in rng.uniform(0.0, 0.08, quarters)), hours[i]
        )
        for i in range(int(rng.choice([1, 1, 2])))
    ]
    tranches, onsite = (
        tranches if rng.random() < 0.5 else [],
        (plant,) if rng.random() < 0.5 else (),
    )
    firm = (0.0, 0.15) if tranches or onsite else (0.05, 0.3)
    return replace(
        SITE,
        id=key,
        utility_mw=tuple(float(x) for x in rng.uniform(*firm, quarters)),
        usd_per_kwh=tuple(float(x) for x in rng.uniform(0.03, 0.2, quarters)),
        demand_usd_per_kw_month=float(rng.choice([0.0, 9.0])),
        minimum_take_frac=float(rng.choice([0.0, 0.85])),
        max_t_per_year=float(rng.uniform(50.0, 400.0)) if rng.random() < 0.2 else None,
        redundancy=str(rng.choice(["n", "n+1", "2n", "4n/3"])),
        block_usd=1e4,
        staff_usd_per_quarter=float(rng.choice([0.0, 1e4])),
        tranches=tuple(tranches),
        onsite=onsite,
        block_lead=int(rng.random() < 0.2),
    )


def _offers(quarters: int, rng: np.random.Generator) -> tuple[OfferTerms, ...]:
    price = tuple(float(x) for x in rng.uniform(1.0, 6.0) * rng.uniform(0.8, 1.2, quarters))
    term = CommitTerms("reserved-1y", 4, tuple(x * float(rng.uniform(0.15, 0.7)) for x in price))
    committed = (term,) if rng.random() < 0.6 else ()
    flexible = not committed or rng.random() < 0.75
    usd = price if flexible else (0.0,) * quarters
    most = 16 if quarters == 2 else 8
    return (OfferTerms("o", "chip", usd, most, "r", "", 8, None, committed, flexible),)


def _job(
    placed: list[Placement], quarters: int, rng: np.random.Generator
) -> tuple[tuple[JobTerms, ...], tuple[RunOption, ...]]:
    """One job in three of four instances: on one or two placements, and mostly in the cloud."""
    if rng.random() < 0.25:
        return (), ()
    options = []
    for p in (placed[0], placed[-1])[: int(rng.integers(1, 3))]:
        start = 3 * int(rng.integers(0, quarters))
        link = FAST if rng.random() < 0.3 else SLOW
        days = float(rng.uniform(10, 89))
        n = int(rng.choice([0.5, 1.0, 1.5]) * p.accelerators)
        options.append(run_option(p.hall, p.system, n, days, start, link))
    if len(options) == 1 or rng.random() < 0.6:
        start = int(rng.integers(0, 3 * (quarters - 1)))
        options.append(run_option(*OFFER, 4, float(rng.uniform(10, 80)), start, LinkSpeed(0.0)))
    job = JobTerms("job", 0, quarters * DAYS_PER_QUARTER, None, 0.8, ("s",))
    return (job,), tuple(options)


def _demands(
    placed: list[Placement], quarters: int, rng: np.random.Generator
) -> tuple[DemandTerms, ...]:
    found = []
    count = int(rng.integers(1, 3))
    for i in range(count):
        own = [p for p in placed if rng.random() < 0.85]
        each = {(p.hall, p.system): float(rng.uniform(0.1, 0.45)) for p in own}
        if rng.random() < 0.75 or not each:
            each[OFFER] = float(rng.uniform(0.1, 0.3))
        wanted = tuple(float(x) for x in rng.uniform(0.0, 12.0 / count, quarters))
        unmet = float(rng.uniform(4e4, 4e5)) if rng.random() < 0.8 else None
        load = float(rng.choice([1.0, 0.5]))
        found.append(DemandTerms(f"d{i}", wanted, each, load_frac=load, unmet_usd=unmet))
    return tuple(found)


def _with_existing(problem: PlanningProblem, rng: np.random.Generator) -> PlanningProblem:
    """An asset in the first hall that may be sold, and an order in the last that may be cancelled,
    each in about half of the instances."""
    first, last, n = problem.placements[0], problem.placements[-1], problem.quarters
    asset, order = (bool(x) for x in rng.random(2) < 0.5)
    asset, order = asset and first.max_racks_unit > 0, order and last.max_racks_unit > 0
    existing, halls = [], list(problem.halls)
    if asset:
        price = first.price_usd * float(rng.uniform(0.3, 1.0))
        end = int(rng.choice([1, 2, 9]))
        sold = tuple(price * float(x) for x in sorted(rng.uniform(0.3, 0.9, n), reverse=True))
        worth = 0.3 * price if end > n else 0.0
        existing.append(
            ExistingTerms(
                "old",
                first.key,
                1,
                0,
                end,
                worth,
                sold if rng.random() < 0.8 else (),
                in_service=True,
            )
        )
        halls[0] = replace(halls[0], existing=True, needs_blocks=False, available_from=0)
        free = replace(halls[0].coolings[0], building_usd=0.0)
        halls[0] = replace(halls[0], coolings=(free,))
    if order:
        price = last.price_usd * float(rng.uniform(0.3, 1.0))
        arrives = int(rng.integers(0, n))
        existing.append(
            ExistingTerms(
                "new",
                last.key,
                int(rng.integers(1, last.max_racks_unit + 1)),
                arrives,
                arrives + 20,
                0.5 * price,
                due_usd=float(rng.uniform(0.2, 0.9)) * price,
                cancel_usd=float(rng.uniform(-0.2, 0.4)) * price if rng.random() < 0.7 else None,
            )
        )
    return with_existing_fit_out(replace(problem, existing=tuple(existing), halls=tuple(halls)))

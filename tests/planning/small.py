"""A hand-made menu with round numbers: one site, one new hall with two coolings, two systems, two
quarters."""

from __future__ import annotations

from dataclasses import replace

from dcplan.fabric.bom import Parts
from dcplan.fabric.effective import LinkSpeed
from dcplan.fabric.topology.design import design
from dcplan.inputs.cloud_prices import OfferTerms
from dcplan.planning.problem.energy import OnsiteTerms, TrancheTerms
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

PORTS = PortClass(400.0, ("ethernet",), 4)
HALL = "s/h"


def rack(system: str, cooling: str, *, price: float, rated: float) -> Placement:
    """A rack of 16 accelerators that is 70 % liquid cooled under ``wet`` and all air under
    ``dry``."""
    liquid = 0.7 * rated if cooling == "wet" else 0.0
    return Placement(
        hall=HALL,
        cooling=cooling,
        system=system,
        accelerator="chip",
        accelerators=16,
        nodes=2,
        slots=1,
        rated_kw=rated,
        peak_kw=1.2 * rated,
        idle_kw=0.25 * rated,
        idle_average_kw=0.25 * rated,
        training_kw=0.75 * rated,
        research_kw=0.5 * rated,
        air_kw=rated - liquid,
        liquid_kw=liquid,
        overhead_kw=1.0,
        weight_kg=500.0,
        ports=16,
        rails=8,
        port_class=PORTS,
        price_usd=price,
        maintenance_usd_per_quarter=10_000.0,
        lead=1,
        first_order=0,
        max_racks_unit=4,
        fit_reason="",
    )


def small_menu() -> PlanningProblem:
    """Menu for golden texts and for the audit's own tests."""
    share = NetworkShare(
        usd=3000.0, kw=0.06, racks=0.008, upper_usd=3500.0, upper_kw=0.07, upper_racks=0.01
    )
    parts = Parts(60e3, 60e3, 60e3, 1.0, 1.0, 1.0, 2.0, 800.0, 0.016, 2, 400.0, 0.009, 20.0)
    fabric = FabricOption(
        hall=HALL,
        id="eth/2t",
        family="eth",
        tiers=2,
        protocol="ethernet",
        topology="rail-optimized",
        speeds={PORTS: LinkSpeed(400.0)},
        designs={PORTS: design(64, 2)},
        parts={PORTS: parts},
        shares={PORTS: share},
        reach={PORTS: 2048},
        switch_models=("sw", "sw", "sw"),
        switch_racks_units=36.0,
        margin_usd=50e3,
        margin_kw=2.0,
        margin_racks=0.5,
    )
    coolings = (
        CoolingTerms("dry", 0.2, 0.0, 1.3, 1.5, 0.1, 200e3, 400e3),
        CoolingTerms("wet", 0.1, 0.3, 1.1, 1.2, 1.8, 300e3, 400e3),
    )
    site = SiteTerms(
        id="s",
        utility_mw=(0.4, 0.6),
        usd_per_kwh=(0.08, 0.08),
        demand_usd_per_kw_month=10.0,
        minimum_take_frac=0.5,
        grid_g_per_kwh=300.0,
        max_t_per_year=5000.0,
        max_l_per_year=None,
        redundancy="n+1",
        block_mw=0.1,
        block_usd=80e3,
        lease_usd_per_kw_month=None,
        staff_usd_per_quarter=25_000.0,
        opex_usd_per_kw_quarter=80.0,
    )
    keep = (0.7, 0.9)
    config = RunOption(
        "job", HALL, "a", "chip", 16, LinkSpeed(400.0), "bf16", 60.0, 55.0, 3, {"tp": 8}, 0.4, 1.0
    )
    rented = replace(config, place="cloud:o", system="chip", link=LinkSpeed(0.0), start_month=0)
    return PlanningProblem(
        start="2027-Q1",
        quarters=2,
        sites=(site,),
        halls=(HallTerms(HALL, "s", "h", 2, 10, 0.3, False, 0, True, coolings),),
        placements=tuple(
            rack(s, c, price=p, rated=w)
            for s, p, w in (("a", 1e6, 40.0), ("b", 1.4e6, 60.0))
            for c in ("dry", "wet")
        ),
        fabrics=(fabric,),
        jobs=(JobTerms("job", 0, 182.625, None, 0.8, ("s",)),),
        run_options=(config, rented),
        demands=(
            DemandTerms(
                "research",
                (1.0, 4.0),
                {(HALL, "a"): 0.2, (HALL, "b"): 0.35, ("cloud:o", "chip"): 0.2},
            ),
        ),
        offers=(OfferTerms("o", "chip", (3.0, 3.0), 64, "near", "", kg_per_accelerator_hour=0.4),),
        supply=(SupplyTerms("b", (3.0, 3.0)),),
        finance=FinanceTerms(0.1, 20, None, (6e6, 6e6), keep, keep, keep, keep),
        orderable=frozenset({"a", "b"}),
        cloud_max_accelerators=64,
    )


def open_menu(*, quarters: int, rent_usd: float) -> PlanningProblem:
    """The small menu with one megawatt, no budget, caps, supply or jobs, and an own rent per hour."""
    base = small_menu()
    keep = (0.5, 0.6, 0.7, 0.8)
    finance = replace(
        base.finance,
        budget_usd=None,
        hardware_residual_frac=keep,
        power_residual_frac=keep,
        building_residual_frac=keep,
        cooling_residual_frac=keep,
    )
    site = replace(
        base.sites[0],
        utility_mw=(1.0,) * quarters,
        usd_per_kwh=(0.08,) * quarters,
        max_t_per_year=None,
    )
    offer = replace(
        base.offers[0], usd_per_accelerator_hour=(rent_usd,) * quarters, max_accelerators=512
    )
    return replace(
        base,
        quarters=quarters,
        sites=(site,),
        jobs=(),
        run_options=(),
        offers=(offer,),
        supply=(),
        finance=finance,
        cloud_max_accelerators=None,
    )


def powered_menu(firm_mw: float, tranche_mw: float, hours: float = 876.6) -> PlanningProblem:
    """The small menu with little firm power, a tranche cut for a tenth of the year, and engines of
    50 kW."""
    problem = small_menu()
    engine = OnsiteTerms(
        "engine", 0.05, 60e3, 500.0, 90.0, 450.0, lead=1, most_units=8, spare_units=1
    )
    site = replace(
        problem.sites[0],
        utility_mw=(firm_mw, firm_mw),
        minimum_take_frac=0.0,
        onsite=(engine,),
        tranches=(TrancheTerms("flex", (0.0, tranche_mw), hours),),
    )
    demand = replace(
        problem.demands[0], each={k: v for k, v in problem.demands[0].each.items() if k[0] == HALL}
    )
    return replace(
        problem,
        sites=(site,),
        demands=(replace(demand, wanted=(0.0, 14.0)),),
        jobs=(),
        run_options=(),
    )

"""Tiny random menus of services: periods of the week, replicas with spares, pools, two sites."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dcplan.fabric.bom import Parts
from dcplan.inputs.cloud_prices import CommitTerms, OfferTerms
from dcplan.planning.problem.terms import (
    FabricOption,
    FinanceTerms,
    HallTerms,
    NetworkShare,
    Placement,
    PlanningProblem,
    SiteTerms,
)
from dcplan.planning.problem.work.terms import TOKENS, DemandTerms, PoolPair, ReplicaTerms, part_id
from tests.planning.tiny import COOLING, OFFER, PORTS, SITE, fabric, placement

QUARTERS = 2


def free_fabric(hall: str) -> FabricOption:
    """A network that costs nothing, so that shares and integer switches agree."""
    zero = NetworkShare(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    parts = Parts(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2, 0.0, 0.0, 0.0)
    found = fabric(hall, "free", np.random.default_rng(0))
    return replace(found, shares={PORTS: zero}, parts={PORTS: parts}, reach={PORTS: 2048})


def rack(hall: str, system: str, rng: np.random.Generator, *, most: int, size: int) -> Placement:
    """A cheap rack whose cost competes with rent."""
    made = placement(hall, system, rng, lead=int(rng.integers(0, 2)))
    price = float(rng.uniform(10e3, 150e3))
    return replace(made, price_usd=price, accelerators=size, ports=size, max_racks_unit=most)


def plain_site(site: str, rng: np.random.Generator, quarters: int = QUARTERS) -> SiteTerms:
    """A site without power blocks and demand charge; its power may bind."""
    return replace(
        SITE,
        id=site,
        utility_mw=tuple(float(x) for x in rng.uniform(0.08, 0.4, quarters)),
        usd_per_kwh=tuple(float(x) for x in rng.uniform(0.05, 0.6, quarters)),
    )


def plain_hall(site: str, most: int) -> HallTerms:
    """A hall for a number of racks, whose cooling never binds and costs nothing."""
    return HallTerms(f"{site}/h", site, "h", 1, most, 10.0, True, 0, False, (COOLING,))


def services_menu(seed: int) -> PlanningProblem:
    """A random instance of two services, small enough to enumerate."""
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(["one", "systems", "sites"]))
    sites = ["s", "r"] if kind == "sites" else ["s"]
    systems = ["alpha", "beta"] if kind == "systems" else ["alpha"]
    most = int(rng.integers(1, 4)) if kind == "one" else 2
    pools = kind != "sites" and rng.random() < 0.5
    sizes = {x: 8 if pools else int(rng.choice([8, 12])) for x in systems}
    placed = [rack(f"{s}/h", k, rng, most=most, size=sizes[k]) for s in sites for k in systems]
    if pools:  # cheap and early enough for some plans to have both pools
        placed = [replace(p, lead=0, price_usd=0.4 * p.price_usd) for p in placed]
    share = float(rng.choice([0.25, 0.5, 0.7]))
    constant = not pools and rng.random() < 0.5
    least = 4 if pools else 2  # replicas of 2 in pools have too many choices
    chat = _service("chat", placed, (0, 1), (share, 1.0 - share), rng, least)
    later = (None,) if constant else (0, 1)
    hours = (1.0,) if constant else (share, 1.0 - share)
    deep = _service("deep", placed, later, hours, rng, least)
    kept = float(rng.choice([0.4, 0.8])) if kind == "sites" and rng.random() < 0.7 else 0.0
    chat = [replace(x, kept_frac_without_site=kept) for x in chat]
    if pools and rng.random() < 0.7:
        chat = [_owned(x) for x in chat]
    more, pairs = _pools(chat, placed, rng) if pools else ([], [])
    falling = tuple(float(x) for x in np.linspace(0.5, 0.9, QUARTERS))
    return PlanningProblem(
        start="2027-Q1",
        quarters=QUARTERS,
        sites=tuple(plain_site(s, rng) for s in sites),
        halls=tuple(plain_hall(s, most) for s in sites),
        placements=tuple(placed),
        fabrics=tuple(free_fabric(f"{s}/h") for s in sites),
        jobs=(),
        run_options=(),
        demands=(*chat, *more, *deep),
        offers=(_offer(rng),),
        supply=(),
        finance=FinanceTerms(0.1, 20, None, None, falling, falling, falling, falling),
        orderable=frozenset(systems),
        cloud_max_accelerators=int(rng.choice([10, 14])) if rng.random() < 0.3 else None,
        periods=(share, 1.0 - share),
        pairs=tuple(pairs),
    )


def _service(
    name: str,
    placed: list[Placement],
    when: tuple[int | None, ...],
    hours: tuple[float, ...],
    rng: np.random.Generator,
    least: int,
) -> list[DemandTerms]:
    each = {(p.hall, p.system): float(rng.uniform(0.4, 2.0)) for p in placed}
    replica = {key: _replica(int(rng.choice([least, 4, 8]))) for key in each}
    below = {(p.hall, p.system): float(rng.uniform(0.0, 0.6)) for p in placed}
    if rng.random() < 0.7:
        each[OFFER] = float(rng.uniform(0.4, 2.0))
        replica[OFFER] = _replica(2)
    unmet = float(rng.uniform(1e3, 1.5e4)) if rng.random() < 0.5 else None
    spare = int(rng.integers(0, 2))
    found = []
    for period, frac in zip(when, hours, strict=True):
        high = float(rng.uniform(2.0, 14.0))
        found.append(
            DemandTerms(
                id=name if period is None else part_id(name, f"p{period + 1}"),
                wanted=tuple(float(x) for x in high * rng.uniform(0.2, 1.0, QUARTERS)),
                each=each,
                unit=TOKENS,
                load_frac=float(rng.uniform(0.2, 0.9)),
                unmet_usd=None if unmet is None else unmet * frac,
                period=period,
                hours_frac=frac,
                replica=replica,
                spare_replicas=spare,
                below_rated_kw=below if rng.random() < 0.7 else {},
            )
        )
    return found


def _owned(demand: DemandTerms) -> DemandTerms:
    """The same demand without rent."""
    return replace(demand, each={k: v for k, v in demand.each.items() if k != OFFER})


def _replica(size: int, pool: str = "") -> ReplicaTerms:
    return ReplicaTerms(size, f"tp{size}", "engine", "fp8", 1.0, pool)


def _pools(
    mains: list[DemandTerms], placed: list[Placement], rng: np.random.Generator
) -> tuple[list[DemandTerms], list[PoolPair]]:
    """A prefill pool on the first system and a decode pool on the last one, by period."""
    rates = [float(x) for x in rng.uniform(4.0, 12.0, 2)]
    sizes = [int(x) for x in rng.choice([2, 4], 2)]
    demands, pairs = [], []
    for main in (replace(x, spare_replicas=0) for x in mains):
        ids = [part_id(main.id, name) for name in ("prefill1", "decode1")]
        for i, at in enumerate((placed[0], placed[-1])):
            key = (at.hall, at.system)
            part = replace(
                main,
                id=ids[i],
                wanted=(0.0,) * QUARTERS,
                each={key: rates[i]},
                replica={key: _replica(sizes[i], "prefill" if i == 0 else "decode")},
                row=main.id,
                share=float(i),
                unmet_usd=None,
                kept_frac_without_site=0.0,
            )
            demands.append(part)
        pairs.append(PoolPair(*ids))
    return demands, pairs


def _offer(rng: np.random.Generator) -> OfferTerms:
    price = float(rng.uniform(1.0, 5.0))
    term = CommitTerms("reserved-1y", 4, tuple(price * float(x) for x in rng.uniform(0.1, 0.7, 2)))
    committed = (term,) if rng.random() < 0.6 else ()
    flexible = not committed or rng.random() < 0.75
    usd = (price, price * float(rng.uniform(0.6, 1.3))) if flexible else (0.0, 0.0)
    most = int(rng.choice([8, 16]))
    return OfferTerms("o", "chip", usd, most, "r", "", 4, None, committed, flexible)

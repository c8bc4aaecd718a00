"""The best mix of owned, committed, on-demand and spot accelerators for a week of four periods.

Racks and committed nodes are enumerated. The rest of a period is served by the cheapest source
first: one demand takes each source up to its limit, so that order is the best one.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from dcplan.answers.plan import sourcing
from dcplan.economics.cash_flow import npv_usd
from dcplan.inputs.cloud_prices import SPOT, CommitTerms, OfferTerms, cloud_place
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.audit.checks import all_checks
from dcplan.planning.problem.terms import FinanceTerms, PlanningProblem
from dcplan.planning.problem.work.terms import TOKENS, DemandTerms, ReplicaTerms, part_id
from dcplan.planning.solve import highs
from dcplan.planning.solve.status import SolveStatus
from tests.planning.optimum import optimum
from tests.planning.tiny_services import QUARTERS, free_fabric, plain_hall, plain_site, rack

SEEDS = range(36)
HOURS = 91.3125 * 24
HOST = ("s/h", "alpha")


def mix_menu(seed: int) -> PlanningProblem:
    """One service with four loads in the week, a hall for some racks, and two offers."""
    rng = np.random.default_rng(20_000 + seed)
    most = int(rng.integers(1, 4))
    place = rack("s/h", "alpha", rng, most=most, size=8)
    hours = rng.dirichlet((4.0, 4.0, 4.0, 4.0))
    falling = tuple(float(x) for x in np.linspace(0.4, 0.8, QUARTERS))
    return PlanningProblem(
        start="2027-Q1",
        quarters=QUARTERS,
        sites=(plain_site("s", rng),),
        halls=(plain_hall("s", most),),
        placements=(replace(place, price_usd=float(rng.uniform(20e3, 200e3))),),
        fabrics=(free_fabric("s/h"),),
        jobs=(),
        run_options=(),
        demands=_demands(hours, rng),
        offers=_offers(rng),
        supply=(),
        finance=FinanceTerms(0.1, 20, None, None, falling, falling, falling, falling),
        orderable=frozenset({"alpha"}),
        periods=tuple(float(x) for x in hours),
    )


def _demands(hours: np.ndarray, rng: np.random.Generator) -> tuple[DemandTerms, ...]:
    keys = (HOST, (cloud_place("o"), "chip"), (cloud_place(f"o/{SPOT}"), "chip"))
    each = {k: float(rng.uniform(0.7, 1.3)) for k in keys}
    size = int(rng.choice([1, 2, 4]))
    replica = {HOST: ReplicaTerms(size, f"tp{size}", "engine", "fp8", 1.0)}
    spare, top = int(rng.integers(0, 2)), float(rng.uniform(10.0, 30.0))
    usd = float(rng.uniform(3e3, 2e4)) if rng.random() < 0.6 else None
    growth = (1.0, float(rng.uniform(0.8, 1.2)))
    found = []
    for p, (frac, load) in enumerate(zip(hours, (1.0, 0.7, 0.4, 0.15), strict=True)):
        found.append(
            DemandTerms(
                id=part_id("chat", f"p{p + 1}"),
                wanted=tuple(top * load * g for g in growth),
                each=each,
                unit=TOKENS,
                load_frac=0.7,
                unmet_usd=None if usd is None else usd * float(frac),
                period=p,
                hours_frac=float(frac),
                replica=replica,
                spare_replicas=spare,
                below_rated_kw={HOST: float(rng.uniform(0.0, 0.5))},
            )
        )
    return tuple(found)


def _offers(rng: np.random.Generator) -> tuple[OfferTerms, ...]:
    """On demand with commitments of one and three years, and spot capacity as its own offer."""
    price = float(rng.uniform(2.0, 5.0))
    drift = (1.0, float(rng.uniform(0.8, 1.1)))
    year, three = (price * float(x) for x in (rng.uniform(0.2, 0.6), rng.uniform(0.06, 0.2)))
    terms = (
        CommitTerms("reserved-1y", 4, tuple(year * x for x in drift)),
        CommitTerms("reserved-3y", 12, tuple(three * x for x in drift)),
    )
    usd = tuple(price * x for x in drift)
    plain = OfferTerms("o", "chip", usd, 16, "r", "", 4, None, terms)
    cheap = tuple(x * float(rng.uniform(0.2, 0.8)) for x in usd)
    spot = replace(
        plain,
        id=f"o/{SPOT}",
        usd_per_accelerator_hour=cheap,
        max_accelerators=int(rng.choice([4, 8])),
        committed=(),
        term=SPOT,
        reclaims_per_instance_h=0.01,
        wait_h=2.0,
    )
    return plain, spot


def _middle(problem: PlanningProblem, t: int) -> float:
    return float((1.0 + problem.finance.discount_rate) ** (-(t + 0.5) / 4))


def best_mix(problem: PlanningProblem) -> float:
    """Least net present cost in USD over all racks and committed nodes."""
    place, (site,) = problem.placements[0], problem.sites
    terms = [(o, c, t) for o in problem.offers for c in o.committed for t in range(QUARTERS)]

    @cache
    def served(racks: int, force: int, t: int) -> float:
        return _quarter_usd(problem, racks, force, t)

    able = place.system in problem.orderable
    orders = [
        range(place.max_racks_unit + 1 if able and t + place.lead < QUARTERS else 1)
        for t in range(QUARTERS)
    ]
    best = math.inf
    for order in itertools.product(*orders):
        racks = [
            sum(n for q, n in enumerate(order) if q + place.lead <= t) for t in range(QUARTERS)
        ]
        peaks = [n * place.rated_kw * 1.35 / 1000 for n in racks]
        if max(racks) > place.max_racks_unit or any(
            mw > most + 1e-9 for mw, most in zip(peaks, site.utility_mw, strict=True)
        ):
            continue
        fixed = _racks_usd(problem, order, racks)
        for nodes in itertools.product(*(range(o.max_accelerators // 4 + 1) for o, _, _ in terms)):
            force = [0] * QUARTERS
            usd = fixed
            for (_, c, first), n in zip(terms, nodes, strict=True):
                paid = sum(_middle(problem, first + q) for q in range(c.quarters))
                usd += n * 4 * HOURS * c.usd_per_accelerator_hour[first] * paid
                for t in range(first, min(first + c.quarters, QUARTERS)):
                    force[t] += 4 * n
            if max(force) <= 16 and usd < best:
                usd += sum(
                    _middle(problem, t) * served(racks[t], force[t], t) for t in range(QUARTERS)
                )
                best = min(best, usd)
    return best


def _racks_usd(problem: PlanningProblem, order: tuple[int, ...], racks: list[int]) -> float:
    place, (site,), fin = problem.placements[0], problem.sites, problem.finance
    end = (1.0 + fin.discount_rate) ** (-QUARTERS / 4)
    usd = sum(
        n * place.price_usd * (_middle(problem, t) - end * fin.hardware_residual_frac[t])
        for t, n in enumerate(order)
    )
    for t, n in enumerate(racks):
        each = place.maintenance_usd_per_quarter + 80.0 * place.rated_kw
        each += place.idle_kw * HOURS * 1.2 * site.usd_per_kwh[t]
        usd += _middle(problem, t) * n * each
    return usd


def _quarter_usd(problem: PlanningProblem, racks: int, force: int, t: int) -> float:
    """Serve each period from the cheapest source on; infinite if something is missing."""
    place, (site,) = problem.placements[0], problem.sites
    usd = 0.0
    for d in problem.demands:
        sources: list[tuple[float, float]] = []
        if HOST in d.each:
            size = d.replica[HOST].accelerators
            usable = max(racks * place.accelerators // size - d.spare_replicas, 0) * size
            kw = place.rated_kw / 8 - d.below_rated_kw[HOST] - place.idle_kw / 8
            energy = d.hours_frac * d.load_frac * kw * HOURS * 1.2 * site.usd_per_kwh[t]
            sources.append((energy / d.each[HOST], usable * d.each[HOST]))
        for o in problem.offers:
            each = d.each[cloud_place(o.id), "chip"]
            bound = force if o.committed else 0
            if o.committed:
                sources.append((0.0, bound * each))
            if o.on_demand:
                hourly = HOURS * d.hours_frac * o.usd_per_accelerator_hour[t]
                sources.append((hourly / each, (o.max_accelerators - bound) * each))
        if d.unmet_usd is not None:
            sources.append((d.unmet_usd, math.inf))
        left = d.wanted[t]
        for price, most in sorted(sources):
            taken = min(left, most)
            usd, left = usd + price * taken, left - taken
        if left > 1e-9:
            return math.inf
    return usd


def solved(problem: PlanningProblem) -> tuple[highs.Outcome, Counter[str]]:
    """The proven optimum, checked by the audit, and what it uses."""
    found, d = optimum(problem)
    used: Counter[str] = Counter()
    if d is not None:
        books = make_accounts(problem, d)
        assert npv_usd(books.flows, problem.finance.discount_rate) == pytest.approx(
            found.objective * 1e6, rel=1e-6, abs=0.1
        )
        assert [c for c in all_checks(problem, d, books) if not c.holds] == []
        used.update({term for _, term, _ in d.committed})
        used.update({o for _, o, _ in d.rented} | ({"owned"} if d.serving else set()))
    return found, used


@pytest.mark.parametrize("seed", SEEDS)
def test_the_best_mix_equals_enumeration(seed: int) -> None:
    problem = mix_menu(seed)
    expected = best_mix(problem)
    found, _ = solved(problem)
    if math.isinf(expected):
        assert found.status == SolveStatus.INFEASIBLE
        return
    assert found.status == SolveStatus.OPTIMAL
    assert found.objective * 1e6 == pytest.approx(expected, rel=1e-6, abs=0.1)


@pytest.mark.parametrize("seed", range(20))
def test_a_mix_is_never_dearer_than_one_choice(seed: int) -> None:
    """Each choice of ``sourcing``: owned, all rent, and each offer and term alone."""
    problem = mix_menu(seed)
    mix = best_mix(problem)
    rented = sourcing._without_orders(problem)
    pairs = [(o.id, term) for o in problem.offers for term in o.planned_terms]
    assert len(pairs) == 4
    alone = [sourcing._one_offer(rented, *pair) for pair in pairs]
    for only in (sourcing._without_cloud(problem), rented, *alone):
        found, _ = solved(only)
        usd = found.objective * 1e6
        assert usd >= mix * (1.0 - 1e-6) - 0.1
        expected = best_mix(only) if only.offers else usd
        assert usd == pytest.approx(expected, rel=1e-6, abs=0.1)


def test_the_mixes_use_every_source() -> None:
    seen: Counter[str] = Counter()
    mixed = 0
    for seed in SEEDS:
        found, used = solved(mix_menu(seed))
        seen += used
        seen["none"] += found.values is None
        mixed += len(used) >= 3
    assert min(seen.values()) >= 2
    assert set(seen) == {"owned", "o", f"o/{SPOT}", "reserved-1y", "reserved-3y", "none"}
    assert mixed >= 10

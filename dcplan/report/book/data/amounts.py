"""Amounts fixed by the decisions of a plan, by quarter: the frozen rows of its workbook."""

from __future__ import annotations

from collections.abc import Iterator

from dcplan.economics.cash_flow import FlowGroup
from dcplan.economics.discounting import straight_residual_frac
from dcplan.inputs.log import InputLog
from dcplan.inputs.residual_value import residual_ends
from dcplan.planning.audit.books.books import Accounts
from dcplan.planning.audit.books.land import LAND, first_use
from dcplan.planning.audit.energy.contracts import contracted_mwh
from dcplan.planning.audit.left import valued_units
from dcplan.planning.audit.links import link_kw
from dcplan.planning.audit.onsite import generated_mw, generated_mwh
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.finance import hardware_left
from dcplan.planning.problem.terms import Placement, PlanningProblem, SiteTerms
from dcplan.provenance import Quantity
from dcplan.scenario.load import Question
from dcplan.specs.plan.book import AmountRow
from dcplan.units import QUARTERS_PER_YEAR

LINK_KW = "link kW"
"""Amount with the power of the equipment of links in a hall."""
PUMP_MW = "MW of heat pumps"
"""Amount with the power of the heat pump of a site that sells heat."""
STOPPED = "racks out of service"
"""Amount with the racks that are off during the works of an upgrade."""
LEASED = "leased racks, each at its price of the order over the price of today"
"""Amount with the leased racks whose lease is paid in a quarter; its item has group, system and lease."""
TO_LESSOR = "racks leased"
"""Amount with the racks of an order that a lessor pays."""
LEFT, HARDWARE = "share left", "hardware"
"""Amount with the share of a price left at the end of the horizon, and its kind of asset."""
LEFT_AT_LOW, LEFT_AT_HIGH = f"{LEFT} at low", f"{LEFT} at high"
"""The same at the bounds of the residual value."""
LAND_NEW = "land bought"
"""Amount with 1 in the quarter in which the land of a site is bought."""
LOT_USD, LOT_AGE = "lot when new", "lot age"
"""Price when new of what is sold or kept of existing hardware, and its age then in years."""
SOLD, AT_END = "sale", "residual value"
"""Kinds of these amounts, and the starts of their cost lines."""


def amounts(
    problem: PlanningProblem, d: Decisions, books: Accounts, placed: list[Placement]
) -> Iterator[AmountRow]:
    """Yield the amounts fixed by the decisions, by quarter, without zeros."""
    for what, where, t, amount in _all(problem, d, books, placed):
        if amount:
            place, cooling, item = (x or None for x in where)
            yield AmountRow(what, place, cooling, item, t, amount)


def leased_racks(problem: PlanningProblem, d: Decisions) -> Iterator[AmountRow]:
    """Yield the leased racks by hall, cooling, system and lease, also in quarters after the horizon."""
    terms = {x.id: x.quarters for x in problem.finance.leases}
    for (h, c, k, lease, q), n in sorted(d.leased.items()):
        place = problem.placed[h, c, k]
        first, each = q + place.lead, n * place.rack_usd(q) / place.price_usd
        for t in range(first, first + terms[lease]):
            group = FlowGroup.OPEX if t < problem.quarters else FlowGroup.POST_HORIZON
            yield AmountRow(LEASED, h, c, f"{group} {k} {lease}", t, each)


def shares_left_at_bounds(problem: PlanningProblem, question: Question) -> Iterator[AmountRow]:
    """Yield the share of hardware's price left at the end, at both bounds of the residual value."""
    life = problem.finance.life_quarters / QUARTERS_PER_YEAR
    ends = residual_ends(question.scenario.finance, life, question.catalog)
    for what, finance in zip((LEFT_AT_LOW, LEFT_AT_HIGH), ends, strict=True):
        log = InputLog(question.catalog)  # the bounds are no inputs of the plan
        for t, share in enumerate(hardware_left(finance, life, problem.quarters, log)):
            if share:
                yield AmountRow(what, HARDWARE, None, None, t, share)


def lots(problem: PlanningProblem, d: Decisions, question: Question) -> Iterator[AmountRow]:
    """Yield the price and age of existing hardware that is sold or kept at the end.

    Nothing where the residual value is a curve: its value by age has no formula.
    """
    end = question.scenario.finance.residual
    if not isinstance(end, Quantity):
        return
    life, last = problem.finance.life_quarters / QUARTERS_PER_YEAR, problem.quarters - 1
    for x in problem.existing:
        site = problem.hall(x.key[0]).site
        sales = [(t, n) for (i, t), n in d.disposed.items() if i == x.id and x.cancel_usd is None]
        moments = [(SOLD, t, x.age + t + 0.5, n * x.resale_usd[t]) for t, n in sales]
        kept = d.existing_racks(x, last) * x.end_usd
        moments.append((AT_END, last, x.age + problem.quarters - x.first, kept))
        for kind, t, quarters, usd in moments:
            age = quarters / QUARTERS_PER_YEAR
            if usd:
                new = usd / straight_residual_frac(age, life, end.value)
                yield AmountRow(LOT_USD, x.id, kind, site, t, new)
                yield AmountRow(LOT_AGE, x.id, kind, site, t, age)


def _at_research_power(problem: PlanningProblem, d: Decisions, place: Placement, t: int) -> float:
    """Return the accelerators at research power with the energy of those that serve."""
    more = (place.research_kw - place.idle_average_kw) / place.accelerators
    added = sum(
        place.serving_kw(c) * d.serving.get((c.id, *place.key, t), 0.0) for c in problem.demands
    )
    return added / more if more else 0.0


def _all(
    problem: PlanningProblem, d: Decisions, books: Accounts, placed: list[Placement]
) -> Iterator[tuple[str, tuple[str, str, str], int, float]]:
    valued = {hall.id: valued_units(problem, d, hall) for hall in problem.halls}
    for t in range(problem.quarters):
        for p in placed:
            served = _at_research_power(problem, d, p, t)
            yield "racks", p.key, t, d.racks(problem, p.key, t)
            yield STOPPED, p.key, t, d.stopped.get((*p.key, t), 0)
            yield (
                "racks bought",
                p.key,
                t,
                d.ordered.get((*p.key, t), 0) + (0 if t else d.fleet.get(p.key, 0)),
            )
            yield TO_LESSOR, p.key, t, d.leased_racks((*p.key, t))
            yield "training accelerators", p.key, t, d.training.get((*p.key, t), 0.0)
            yield "serving accelerators", p.key, t, served
            yield "price over list", p.key, t, p.price_factor[t] if p.price_factor else 1.0
        for hall in problem.halls:
            for c in hall.coolings:
                units = d.fitted.get((hall.id, c.id, t), 0)
                before = (
                    d.fitted.get((hall.id, c.id, t - 1), 0)
                    if t
                    else hall.existing_units.get(c.id, 0)
                )
                yield "units", (hall.id, c.id, ""), t, units
                yield "units new", (hall.id, c.id, ""), t, units - before
            yield LINK_KW, (hall.id, "", ""), t, link_kw(problem, d, hall.id, t)
            for (ports, role), n in books.halls[hall.id, t].network.parts.items():
                yield "pieces", (hall.id, ports, role), t, n
            for (ports, role), n in books.pieces_bought[hall.id, t].items():
                yield "pieces bought", (hall.id, ports, role), t, n
        for site in problem.sites:
            yield from _of_site(problem, d, books, site, t)
        for hall in problem.halls:
            for c in hall.coolings:
                yield "units valued", (hall.id, c.id, ""), t, valued[hall.id].get((c.id, t), 0.0)
        finance = problem.finance
        for kind, shares in (
            (HARDWARE, finance.hardware_residual_frac),
            ("building", finance.building_residual_frac),
            ("cooling", finance.cooling_residual_frac),
            ("power", finance.power_residual_frac),
        ):
            yield LEFT, (kind, "", ""), t, shares[t]


def _of_site(
    problem: PlanningProblem, d: Decisions, books: Accounts, site: SiteTerms, t: int
) -> Iterator[tuple[str, tuple[str, str, str], int, float]]:
    yield "storage given", (site.id, "", ""), t, 0 if t else 1
    new = d.blocks.get((site.id, t), 0) - (d.blocks.get((site.id, t - 1), 0) if t else 0)
    yield "blocks new", (site.id, "", ""), t, new
    if site.land_usd:
        bought = first_use(problem, d, site.id) == t
        yield LAND_NEW, (site.id, "", ""), t, float(bought)
        yield LEFT, (LAND, site.id, ""), t, site.land_left_frac[t]
    yield "MWh made", (site.id, "", ""), t, generated_mwh(d, site, t)
    if site.contracts:
        yield "MWh contracted", (site.id, "", ""), t, contracted_mwh(d, site, t)
    if site.heat:
        yield PUMP_MW, (site.id, "", ""), t, books.site(problem, site.id, t, "pump_mw")
    yield "MW made", (site.id, "", ""), t, generated_mw(d, site, t)

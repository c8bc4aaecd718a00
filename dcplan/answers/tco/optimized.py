"""``dcplan tco`` of a scenario with demand: all owned, all rented, or both, each the best plan for
the same work.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

from dcplan.answers.common.result_blocks import describe, inputs_of
from dcplan.answers.tco.owned import Owned, owned_of
from dcplan.answers.tco.rented import has_storage_price, rent_lines, terms_of, with_adders
from dcplan.answers.tco.tables import bridge_table, lines_table, years_table
from dcplan.catalog.schema import Offer
from dcplan.errors import EXIT_INCOMPLETE, EXIT_INFEASIBLE, EXIT_OK, InputError
from dcplan.inputs.cloud_prices import ON_DEMAND
from dcplan.inputs.left_out import Kind
from dcplan.planning.audit.accounts import make_accounts
from dcplan.planning.presolve import presolve
from dcplan.planning.problem.build import Built, build
from dcplan.planning.problem.terms import Menu
from dcplan.planning.solve.request import SolveRequest
from dcplan.planning.solve.solved import Solved
from dcplan.planning.solve.status import SolveStatus
from dcplan.planning.solve.strategy import solve_menu
from dcplan.result import Cell, Metric, Result, Table
from dcplan.scenario.load import Question
from dcplan.units import HOURS_PER_QUARTER, money

CENT = 0.01
MOST_PAIRS = 12
"""Offers and terms that are each planned alone; with more only their best mix is."""
SHARE_OF_BEST = {"hybrid": 0.4, "owned": 0.3}
"""Of the time; the rest is for renting."""


@dataclass(frozen=True)
class Way:
    """One way to do the work, planned and priced after taxes and debt; None where it cannot be
    done.
    """

    name: str
    owned: Owned | None
    solved: Solved
    """At the offers' own prices."""
    gap_frac: float
    """Of the plan with the adders of rent in its prices."""
    why: str = ""


def tco_of_plans(question: Question, gap: float, time_limit_s: float) -> Result:
    """Plan the scenario's work three ways and compare their cost.

    Every plan is found with the adders of rent in its hourly prices, so that what is rented is
    worth all it costs.

    Raises
    ------
    InputError
        When the scenario has no plan at all, or another objective than cost.
    """
    began = time.monotonic()
    built = build(question)
    problems = presolve(question, built)
    if problems:
        raise InputError(problems)
    if question.scenario.objective != "min_cost":
        cause = f"tco compares cheapest plans: objective {question.scenario.objective} is not supported here"
        raise InputError(
            [question.tree.problem("DC004", cause, ("objective",), help="--set objective=min_cost")]
        )

    def left_s() -> float:
        return max(time_limit_s - (time.monotonic() - began), 1.0)

    ways = [
        _way("hybrid", built.menu, question, built, gap, SHARE_OF_BEST["hybrid"] * left_s()),
        _way(
            "owned",
            _without_cloud(built.menu),
            question,
            built,
            gap,
            SHARE_OF_BEST["owned"] * left_s(),
        ),
    ]
    pairs = [
        (o.id, term) for o in built.menu.offers for term in terms_of(o) if term not in o.beside
    ]
    rented = _without_orders(built.menu)
    ways.append(_way("rented", rented, question, built, gap, left_s() / 2))
    for offer, term in pairs if 1 < len(pairs) <= MOST_PAIRS else []:
        only = _one_offer(rented, offer, term)
        ways.append(
            _way(f"rented.{offer}.{term}", only, question, built, gap, left_s() / (2 * len(pairs)))
        )
    if len(pairs) == 1:
        ways.append(replace(ways[-1], name="rented.{}.{}".format(*pairs[0])))
    ways[0] = _cheapest(ways)
    return _result(question, built, ways, gap, began)


def _cheapest(ways: list[Way]) -> Way:
    """The hybrid, or what is cheaper after taxes and set-up: all owned and all rented are hybrids,
    too.
    """
    able = [w for w in ways if w.owned is not None]
    if not able:
        return ways[0]
    return replace(min(able, key=lambda w: w.owned.npv_usd if w.owned else math.inf), name="hybrid")


def _way(
    name: str, menu: Menu, question: Question, built: Built, gap: float, time_limit_s: float
) -> Way:
    loaded = replace(menu, offers=tuple(with_adders(o, menu, built.ledger) for o in menu.offers))
    solved = solve_menu(loaded, question, SolveRequest(gap=gap, time_limit_s=time_limit_s))
    if solved.audit is None or solved.decisions is None:
        none = solved.status == SolveStatus.INFEASIBLE
        return Way(
            name, None, solved, math.inf, _cannot(name, menu) if none else "no plan found in time"
        )
    books = make_accounts(
        menu, solved.decisions
    )  # at the offers' own prices: the adders get lines of their own
    priced = replace(solved, menu=menu, audit=replace(solved.audit, books=books))
    rent = rent_lines(menu, solved.decisions, books.flows, built.ledger)
    return Way(name, owned_of(question, built, priced, rent), priced, solved.gap_frac)


def _cannot(name: str, menu: Menu) -> str:
    if name.startswith("rented") and not menu.offers:
        return "no cloud: in the scenario"
    return "cannot do the work in its limits: dcplan explain FILE says which" + (
        "" if name == "hybrid" else ", with the other side left out"
    )


def _without_cloud(menu: Menu) -> Menu:
    """The same menu where nothing may be rented."""
    demands = tuple(
        replace(d, each={k: v for k, v in d.each.items() if not k[0].startswith("cloud:")})
        for d in menu.demands
    )
    own = tuple(c for c in menu.configs if not c.on_cloud)
    return replace(menu, offers=(), demands=demands, configs=own)


def _without_orders(menu: Menu) -> Menu:
    """The same menu where nothing may be ordered; what is given, in service or on order stays."""
    held = {(x.key[0], x.key[2]) for x in menu.held} | (
        {(menu.fleet.hall, menu.fleet.system)} if menu.fleet else set()
    )
    own = tuple(c for c in menu.configs if c.on_cloud or (c.place, c.system) in held)
    return replace(menu, orderable=frozenset(), configs=own)


def _one_offer(menu: Menu, offer: str, term: str) -> Menu:
    """A menu with one offer under one term."""
    only = next(o for o in menu.offers if o.id == offer)
    terms = tuple(c for c in only.committed if c.term == term)
    flexible = term == ON_DEMAND
    price = (
        only.usd_per_accelerator_hour
        if flexible
        else tuple(0.0 for _ in only.usd_per_accelerator_hour)
    )
    only = replace(only, committed=terms, on_demand=flexible, usd_per_accelerator_hour=price)
    place = "cloud:" + offer
    demands = tuple(
        replace(
            d,
            each={
                k: v for k, v in d.each.items() if k[0] == place or not k[0].startswith("cloud:")
            },
        )
        for d in menu.demands
    )
    configs = tuple(c for c in menu.configs if not c.on_cloud or c.place == place)
    return replace(menu, offers=(only,), demands=demands, configs=configs)


def _result(question: Question, built: Built, ways: list[Way], gap: float, began: float) -> Result:
    rate = built.menu.finance.discount_rate
    metrics: dict[str, Metric] = {}
    rows: list[tuple[Cell, ...]] = []
    hybrid = ways[0].owned
    for way in ways:
        if way.owned is None:
            rows.append((way.name, None, None, None, None, None, way.why))
            continue
        npv = way.owned.npv_usd
        metrics[f"{way.name}.npv_usd"] = Metric(npv, "USD", "Present cost after tax and debt")
        gap_frac = way.gap_frac
        over = npv - hybrid.npv_usd if hybrid is not None else None
        over = 0.0 if over is not None and abs(over) < CENT else over
        rows.append(
            (
                way.name,
                npv,
                over,
                _accelerators(way.solved),
                _rented_hours(way.solved),
                gap_frac,
                "",
            )
        )
    rows = rows[:3] + sorted(
        rows[3:], key=lambda r: float(str(r[1])) if r[1] is not None else math.inf
    )
    known = {w.name: w.owned for w in ways if w.owned is not None}
    sides = {name: owned.after_tax for name, owned in known.items()}
    tables = {
        "ways": Table(
            (
                "way",
                "npv_usd",
                "over_hybrid_usd",
                "owned_accelerators",
                "rented_hours",
                "gap_frac",
                "note",
            ),
            tuple(rows),
        ),
        "lines": lines_table(sides, rate),
    }
    if hybrid is not None:
        tables["bridge"] = bridge_table(hybrid.plan_npv_usd, hybrid.steps, hybrid.npv_usd)
    ends = {
        n: (o.loan.owed_at_end_usd if o.loan else 0.0) - sum(o.after_tax.end_usd.values())
        for n, o in known.items()
    }
    if known:
        tables["years"] = years_table({n: o.cash_usd for n, o in known.items()}, ends, {})
    able = any(w.owned is not None for w in ways)
    done = all(
        w.solved.status in (SolveStatus.OPTIMAL, SolveStatus.INFEASIBLE) or w.gap_frac <= gap
        for w in ways
    )
    status, code = ("ok", EXIT_OK) if done else ("incomplete", EXIT_INCOMPLETE)
    if done and not able:
        status, code = "infeasible", EXIT_INFEASIBLE
    return Result(
        "tco",
        status,
        code,
        _headline(question, known),
        scenario=describe(question),
        metrics=metrics,
        tables=tables,
        inputs=inputs_of(built),
        warnings=[{"code": "note", "message": text} for text in _notes(question, built)],
        run={"seconds": round(time.monotonic() - began, 3)},
    )


def _accelerators(solved: Solved) -> int:
    d, menu = solved.decisions, solved.menu
    if d is None:
        return 0
    ordered = sum(
        d.racks_ordered(p.key, menu.quarters - 1) * p.accelerators for p in menu.placements
    )
    size = {p.key: p.accelerators for p in menu.placements}
    return ordered + sum(d.held_racks(x, menu.quarters - 1) * size[x.key] for x in menu.held)


def _rented_hours(solved: Solved) -> float:
    if solved.decisions is None:
        return 0.0
    runs = sum(r.accelerators * r.days * 24.0 for r in solved.decisions.runs if r.on_cloud)
    return runs + sum(x * HOURS_PER_QUARTER for x in solved.decisions.rented.values())


def _headline(question: Question, known: dict[str, Owned]) -> str:
    parts = [
        f"{name} USD {money(known[name].npv_usd)}"
        for name in ("owned", "rented", "hybrid")
        if name in known
    ]
    missing = [name for name in ("owned", "rented", "hybrid") if name not in known]
    words = f"{question.scenario.name}: the same work costs in present value: " + ", ".join(parts)
    return words + (f"; {' and '.join(missing)} alone cannot do it" if missing else "")


def _notes(question: Question, built: Built) -> list[str]:
    notes = [
        f"{x.id}: left out, {x.reason}"
        for x in built.menu.left_out
        if x.kind in (Kind.OFFER, Kind.TERM)
    ]
    makers = {built.ledger.catalog.get("cloud", o.id, Offer).provider for o in built.menu.offers}
    notes += [
        f"no storage price of {p}: AWS S3 Standard stands in"
        for p in sorted(makers)
        if not has_storage_price(p, built.ledger)
    ]
    if (
        question.scenario.cloud is not None
        and question.scenario.cloud.egress_tb_per_month is not None
    ):
        notes.append("cloud.egress_tb_per_month is counted only where a fleet is given")
    notes.append(
        "each way is planned for least cost before taxes, debt and set-up, and then priced with them; hardware in "
        "service and on order stays in all of them"
    )
    return notes

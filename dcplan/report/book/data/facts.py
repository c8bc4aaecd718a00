"""What a workbook of a plan is computed from: amounts that the decisions fix, and facts with their
formulas.

A formula is text over input keys in brackets and other facts of the same row in braces:
``{nodes} * [systems.dgx-h200.price_usd]``. One that does not give the fact's own value is left out:
the fact is then a plain number, and the input is not live.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from dcplan.economics.cash_flow import FlowGroup
from dcplan.inputs.cloud_prices import ON_DEMAND
from dcplan.inputs.log import Ledger
from dcplan.planning.audit.accounts import Accounts
from dcplan.planning.decisions import Decisions
from dcplan.planning.problem.terms import HallTerms, Menu, Placement, SiteTerms
from dcplan.planning.solve.solved import Solved
from dcplan.provenance import Status
from dcplan.report.book.data.amounts import amounts
from dcplan.report.book.data.formula_text import REFERENCE, evaluate
from dcplan.report.book.data.network import pieces
from dcplan.result import Cell, Table
from dcplan.scenario.load import Question
from dcplan.scenario.set_keys import set_key
from dcplan.units import DAYS_PER_QUARTER, KW_PER_MW, QUARTERS_PER_YEAR

FACTS = ("fact", "place", "cooling", "item", "quarter", "value", "unit", "formula")
AMOUNTS = ("what", "place", "cooling", "item", "quarter", "amount")
SAME = 1e-12
HALL_FIELD = re.compile(r"(sites\..+\.halls\.[^.]+)\.[^.]+\.(pue|peak_pue|wue_l_per_kwh)")
"""A coefficient of a hall's cooling option; the scenario gives it for the hall."""


@dataclass
class Facts:
    """Facts in their order; a formula is kept only where it gives the value."""

    ledger: Ledger
    rows: list[tuple[Cell, ...]] = field(default_factory=list)
    live: set[str] = field(default_factory=set)

    def add(
        self,
        where: tuple[str, str, str],
        values: Mapping[str, tuple[float, str, str]],
        quarter: int | None = None,
    ) -> None:
        """Facts of one place, cooling and item: value, unit and formula."""
        known = {name: value for name, (value, _, _) in values.items()}
        for name, (value, unit, formula) in values.items():
            text = formula if formula and self.gives(formula, known, value) else ""
            self.live |= set(REFERENCE.findall(text))
            self.rows.append(
                (name, *(x or None for x in where), quarter, value, unit or None, text or None)
            )

    def gives(self, formula: str, known: Mapping[str, float], value: float) -> bool:
        """Whether a formula of inputs and known facts has this value."""
        inputs = {
            key: float(row.value)
            for key in REFERENCE.findall(formula)
            if (row := self.ledger.rows.get(key)) is not None and isinstance(row.value, int | float)
        }
        try:
            found = evaluate(formula, inputs, known)
        except KeyError:
            return False
        return math.isclose(found, value, rel_tol=SAME, abs_tol=1e-300)


def book_tables(solved: Solved, question: Question, ledger: Ledger) -> dict[str, Table]:
    """Facts, amounts, and what every live input is called in ``--set``."""
    if solved.audit is None or solved.decisions is None:
        return {}
    menu, d, books = solved.menu, solved.decisions, solved.audit.books
    facts = Facts(ledger)
    placed = [
        p
        for p in menu.placements
        if any(d.racks(menu, p.key, t) for t in range(menu.quarters)) or _bought(d, p)
    ]
    for p in placed:
        facts.add(p.key, _placement(p, ledger))
    for hall in menu.halls:
        _hall(facts, hall, d, menu)
        _network(facts, hall, menu, d, books, question)
    for site in menu.sites:
        _site(facts, site, menu, ledger)
    facts.add(("", "", ""), _finance(menu, d, ledger))
    frozen = _frozen(menu, d, ledger)
    hours = list(_cloud(facts, menu, books))
    keys = tuple((key, _settable(key, ledger, question, frozen)) for key in sorted(facts.live))
    return {
        "book_facts": Table(FACTS, tuple(facts.rows)),
        "book_amounts": Table(AMOUNTS, (*amounts(menu, d, books, placed), *hours)),
        "book_live": Table(("key", "set_as"), keys),
    }


def _frozen(menu: Menu, d: Decisions, ledger: Ledger) -> tuple[str, ...]:
    """Beginnings of inputs by which more than the printed formulas would move.

    A quote by quarter stands in the place of a system's price.

    What is in service or on order is worth what its system and storage cost, in rows that stand as
    planned. Work that offers, systems or sites share goes where it is cheapest, so their prices and
    powers decide how much each does.
    """
    quoted = {key.partition("[")[0] for key in ledger.rows if key.startswith("supply.")}
    found = [f"systems.{x.key[2]}." for x in menu.held] + (["storage_tiers."] if menu.held else [])
    found += [
        f"systems.{p.system}.price_usd"
        for p in menu.placements
        if f"supply.{p.system}.price_usd" in quoted
    ]
    found += [
        "cloud.",
        "power.average-",
        *(f"systems.{p.system}.average_kw" for p in menu.placements),
    ] * bool(d.serving)
    found += ["cloud."] if d.rented or any(r.on_cloud for r in d.runs) else []
    sites = {menu.hall(hall).site for (_, hall, _, _, _), n in d.serving.items() if n}
    found += [f"sites.{site}.energy." for site in sites if len(sites) > 1]
    found += [f"sites.{site.id}.energy." for site in menu.sites if site.onsite]
    return tuple(found)


def _settable(key: str, ledger: Ledger, question: Question, frozen: tuple[str, ...]) -> str | None:
    """What ``--set`` calls an input that may be edited for the same decisions; None where more than
    a formula follows.

    Rated power decides how many nodes a rack holds, and the size of a power block how many there
    are.
    """
    if key.startswith(frozen):
        return None
    row = ledger.rows[key]
    if row.status == str(Status.DERIVED) or key.endswith(
        ("rated_kw", "block_mw", "block-mw-default")
    ):
        return None
    hall = HALL_FIELD.fullmatch(key)
    return f"{hall[1]}.{hall[2]}" if hall else set_key(key, question)


def _cloud(facts: Facts, menu: Menu, books: Accounts) -> Iterator[tuple[Cell, ...]]:
    """Price of an hour of every offer in use, and the hours at that price of each line."""
    paid = [f for f in books.flows if f.group in (FlowGroup.CLOUD, FlowGroup.AFTER)]
    for offer in menu.offers:
        terms = {ON_DEMAND: offer.usd_per_accelerator_hour[0]} if offer.on_demand else {}
        terms |= {c.term: c.usd_per_accelerator_hour[0] for c in offer.committed}
        for term, usd in terms.items():
            own = [f for f in paid if (f.offer, f.term) == (offer.id, term)]
            if not own or not usd:
                continue
            each, name = float(offer.node_accelerators), term.replace("-", "_")
            formula = f"[cloud.{offer.id}.{name}_usd_per_h] / {{node}}"
            facts.add(
                (offer.id, name, ""), {"node": (each, "", ""), "usd_per_h": (usd, "USD", formula)}
            )
            for f in own:
                yield "rented hours", offer.id, name, f"{f.group} {f.line}", f.quarter, f.usd / usd


def _bought(d: Decisions, p: Placement) -> bool:
    return p.key in d.fleet or any((h, c, k) == p.key for h, c, k, _ in d.ordered)


def _placement(p: Placement, ledger: Ledger) -> dict[str, tuple[float, str, str]]:
    """One rack of a system in a hall."""
    key = f"systems.{p.system}"

    def state(name: str) -> str:
        own = f"{key}.average_kw.{name}"
        each = (
            f"[{own}]" if own in ledger.rows else f"[{key}.rated_kw] * [power.average-{name}-frac]"
        )
        return f"{{nodes}} * {each}"

    peak = (
        f"[{key}.peak_kw]"
        if f"{key}.peak_kw" in ledger.rows
        else f"[{key}.rated_kw] * [power.peak-over-rated]"
    )
    busy = (
        (p.standing_kw - p.idle_kw) / (p.training_kw - p.idle_kw)
        if p.training_kw != p.idle_kw
        else 0.0
    )
    blocks, tier = _blocks(p.storage_usd, ledger)
    return {
        "nodes": (float(p.nodes), "", ""),
        "accelerators": (float(p.accelerators), "", ""),
        "slots": (float(p.slots), "", ""),
        "rated_kw": (p.rated_kw, "kW", f"{{nodes}} * [{key}.rated_kw]"),
        "overhead_kw": (p.overhead_kw, "kW", ""),
        "peak_kw": (p.peak_kw, "kW", f"{{nodes}} * {peak}"),
        "idle_kw": (p.idle_kw, "kW", state("idle")),
        "training_kw": (p.training_kw, "kW", state("training")),
        "research_kw": (p.research_kw, "kW", state("research")),
        "busy_frac": (busy, "", "[fleet.utilization_frac]" if busy else ""),
        "standing_kw": (
            p.standing_kw,
            "kW",
            "{idle_kw} + {busy_frac} * ({training_kw} - {idle_kw})",
        ),
        "price_usd": (p.price_usd, "USD", f"{{nodes}} * [{key}.price_usd]"),
        "maintenance_usd": (
            p.maintenance_usd_per_quarter,
            "USD",
            f"{{price_usd}} * [finance.maintenance-hardware-frac-per-year] / {QUARTERS_PER_YEAR:g}",
        ),
        "storage_blocks": (blocks, "", ""),
        "storage_usd": (
            p.storage_usd,
            "USD",
            f"{{storage_blocks}} * [{tier}.price_usd]" if tier else "",
        ),
        "storage_kw": (p.storage_kw, "kW", f"{{storage_blocks}} * [{tier}.kw]" if tier else ""),
    }


def _blocks(usd: float, ledger: Ledger) -> tuple[float, str]:
    """Storage blocks that some money buys, and the tier they are of."""
    tier = next(
        (
            k.rpartition(".")[0]
            for k in ledger.rows
            if k.startswith("storage_tiers.") and "price" in k
        ),
        "",
    )
    price = ledger.rows.get(f"{tier}.price_usd") if tier else None
    if price is None or not isinstance(price.value, int | float) or not price.value:
        return 0.0, ""
    return usd / price.value, tier


def _hall(facts: Facts, hall: HallTerms, d: Decisions, menu: Menu) -> None:
    """One unit of a hall under each cooling that is fitted."""
    key = f"sites.{hall.site}.halls.{hall.name}"
    for c in hall.coolings:
        if not any(d.fitted.get((hall.id, c.id, t)) for t in range(menu.quarters)):
            continue
        own = f"{key}.fit_out_usd_per_kw"
        each = own if own in facts.ledger.rows else f"cooling.{c.id}.fit_out_usd_per_kw"
        facts.add(
            (hall.id, c.id, ""),
            {
                "it_mw": (hall.it_mw, "MW", ""),
                "pue": (c.pue, "", f"[{key}.{c.id}.pue]"),
                "peak_pue": (c.peak_pue, "", f"MAX({{pue}}, [{key}.{c.id}.peak_pue])"),
                "wue_l_per_kwh": (c.wue_l_per_kwh, "L/kWh", f"[{key}.{c.id}.wue_l_per_kwh]"),
                "fit_out_usd": (c.fit_out_usd, "USD", f"[{each}] * {{it_mw}} * {KW_PER_MW:g}"),
                "building_usd": (
                    c.building_usd,
                    "USD",
                    "[power.building-shell-usd-per-mw] * {it_mw} * {peak_pue}"
                    if c.building_usd
                    else "",
                ),
            },
        )
    blocks, tier = _blocks(hall.storage_usd, facts.ledger)
    facts.add(
        (hall.id, "", ""),
        {
            "storage_blocks": (blocks, "", ""),
            "storage_kw": (
                hall.storage_kw,
                "kW",
                f"{{storage_blocks}} * [{tier}.kw]" if blocks else "",
            ),
            "storage_usd": (
                hall.storage_usd,
                "USD",
                f"{{storage_blocks}} * [{tier}.price_usd]" if blocks else "",
            ),
        },
    )


def _network(
    facts: Facts, hall: HallTerms, menu: Menu, d: Decisions, books: Accounts, question: Question
) -> None:
    """Price and power of the pieces of the hall's fabric, by NIC class."""
    option = next(
        (o for o in menu.fabrics if o.hall == hall.id and o.id == d.fabric.get(hall.id)), None
    )
    if option is None:
        return
    there = {ports for t in range(menu.quarters) for ports, _ in books.pieces_bought[hall.id, t]}
    there |= {
        ports for t in range(menu.quarters) for ports, _ in books.halls[hall.id, t].network.parts
    }
    for ports in option.shares:
        if ports.id not in there:
            continue
        for role, (usd, kw, usd_text, kw_text) in pieces(option, ports, question).items():
            facts.add(
                (hall.id, ports.id, role),
                {"usd": (usd, "USD", usd_text), "kw": (kw, "kW", kw_text)},
            )


def _site(facts: Facts, site: SiteTerms, menu: Menu, ledger: Ledger) -> None:
    """Tariffs of a site; those that vary stand by quarter."""
    key = f"sites.{site.id}"

    def either(field_name: str, parameter: str) -> str:
        return f"{key}.{field_name}" if f"{key}.{field_name}" in ledger.rows else parameter

    block = either("power.usd_per_kw", "power.power-blocks-usd-per-kw")
    size = either("power.block_mw", "power.block-mw-default")
    pay = either("staff.usd_per_person_year", "finance.staff-usd-per-person-year")
    kinds = ("finance.facility-maintenance-usd-per-kw-year", "finance.fixed-opex-usd-per-kw-year")
    year = f" / {QUARTERS_PER_YEAR:g}"
    opex = next(
        (
            f"[{k}]{year}"
            for k in kinds
            if facts.gives(f"[{k}]{year}", {}, site.opex_usd_per_kw_quarter)
        ),
        "",
    )
    facts.add(
        (site.id, "", ""),
        {
            "demand_usd_per_kw_month": (
                site.demand_usd_per_kw_month,
                "USD/kW/month",
                f"[{key}.energy.demand_usd_per_kw_month]",
            ),
            "minimum_take_frac": (site.minimum_take_frac, "", f"[{key}.energy.minimum_take_frac]"),
            "grid_g_per_kwh": (site.grid_g_per_kwh, "g/kWh", f"[{key}.carbon.grid_g_per_kwh]"),
            "block_mw": (site.block_mw, "MW", f"[{size}]"),
            "block_usd": (site.block_usd, "USD", f"[{block}] * {{block_mw}} * {KW_PER_MW:g}"),
            "staff_usd": (
                site.staff_usd_per_quarter,
                "USD",
                f"[{key}.staff.people] * [{pay}]{year}",
            ),
            "opex_usd_per_kw": (site.opex_usd_per_kw_quarter, "USD/kW", opex),
        },
    )
    rise = either("lease.escalator_frac_per_year", "finance.lease-escalator-frac-per-year")
    for t in range(menu.quarters):
        price = f"{key}.energy.usd_per_kwh"
        each = price if price in ledger.rows else f"{price}[{t}]"
        lease = site.lease_usd_per_kw_month[t] if site.lease_usd_per_kw_month else 0.0
        years = t // QUARTERS_PER_YEAR
        facts.add(
            (site.id, "", ""),
            {
                "usd_per_kwh": (site.usd_per_kwh[t], "USD/kWh", f"[{each}]"),
                "utility_mw": (site.utility_mw[t], "MW", ""),
                "lease_usd_per_kw_month": (
                    lease,
                    "USD/kW/month",
                    f"[{key}.lease.usd_per_kw_month] * (1 + [{rise}]) ** {years}",
                ),
            },
            t,
        )


def _finance(menu: Menu, d: Decisions, ledger: Ledger) -> dict[str, tuple[float, str, str]]:
    rate = (
        "finance.discount_rate"
        if "finance.discount_rate" in ledger.rows
        else "finance.discount-rate"
    )
    used = (sum(d.training.values()) + sum(d.serving.values())) * DAYS_PER_QUARTER
    return {
        "discount_rate": (menu.finance.discount_rate, "fraction per year", f"[{rate}]"),
        "used_accelerator_days": (used, "days", ""),
    }

"""Existing and on-order hardware: its place, its time in service, and its disposal."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dcplan.catalog.schema import Fabric, Parameter, System
from dcplan.errors import InputError, Problem
from dcplan.inputs.excluded import ExcludedOption, Kind
from dcplan.inputs.log import InputLog
from dcplan.inputs.residual_value import residual_of
from dcplan.planning.exact_network import EMPTY, Network, P, exact_network
from dcplan.planning.problem.placement import placements
from dcplan.planning.problem.systems import system_terms
from dcplan.planning.problem.terms import (
    ExistingTerms,
    FabricOption,
    HallTerms,
    Placement,
    PlanningProblem,
)
from dcplan.scenario.checks.existing import hall_of
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Asset, Hall, Order, Scenario
from dcplan.units import DAYS_PER_QUARTER, QUARTERS_PER_YEAR, quarter_index

Bounds = tuple[float, float, float]


@dataclass(frozen=True)
class _Where:
    """Hardware with its resolved place."""

    entry: Asset | Order
    hall: str
    cooling: str
    system: System


def entries_of(question: Question, halls: dict[str, HallTerms]) -> list[_Where]:
    """Return assets and orders with their hall and cooling."""
    found = []
    entries: list[Asset | Order] = [*question.scenario.assets, *question.scenario.orders]
    for entry in entries:
        place = hall_of(entry, question.scenario)
        if place is None:  # the checks of the scenario report the place
            msg = f"{entry.id} has no hall"
            raise ValueError(msg)
        hall = halls[f"{place[0]}/{place[1].id}"]
        row = question.catalog.get("systems", entry.system, System)
        found.append(_Where(entry, hall.id, entry.cooling or place[1].cooling[0], row))
    return found


def existing_placements(
    question: Question,
    log: InputLog,
    halls: dict[str, HallTerms],
    given: dict[str, Hall],
    placed: list[Placement],
    excluded: list[ExcludedOption],
) -> list[Placement]:
    """Add the placements of existing and on-order hardware.

    They are placements that the plan may not order, or with another number of nodes per rack.
    """
    per_su = question.scenario.fabric.nodes_per_su if question.scenario.fabric else None
    groups: dict[tuple[str, str], list[_Where]] = defaultdict(list)
    for item in entries_of(question, halls):
        groups[item.hall, item.system.id].append(item)
    for (hall, system), items in groups.items():
        nodes = items[0].entry.nodes_per_rack
        there = any((p.hall, p.system) == (hall, system) for p in placed)
        if there and nodes is None:
            continue
        total = sum(x.entry.accelerators for x in items) // items[0].system.accelerators
        own = placements(
            system_terms(items[0].system, question.scenario, log),
            halls[hall],
            given[hall],
            log,
            excluded,
            nodes,
            per_su,
            0.0,
            None if there else total,
        )
        placed = [p for p in placed if (p.hall, p.system) != (hall, system)] + own
    return placed


def existing_terms(
    question: Question,
    log: InputLog,
    halls: dict[str, HallTerms],
    placed: Iterable[Placement],
    excluded: list[ExcludedOption],
) -> tuple[ExistingTerms, ...]:
    """Return racks, life, price and disposal terms of existing and on-order hardware.

    Hardware at its end of life, or without a suitable place, is excluded.
    """
    scenario = question.scenario
    life = log.chosen(
        "finance.hardware_life_years",
        scenario.finance.hardware_life_years,
        "finance",
        "hardware-life-years",
    )
    by_key = {p.key: p for p in placed}
    found = []
    for item in entries_of(question, halls):
        place = by_key.get((item.hall, item.cooling, item.system.id))
        kind = Kind.ASSET if isinstance(item.entry, Asset) else Kind.ORDER
        if place is None:
            raise InputError([_misfit(item, question, excluded)])
        racks, rest = divmod(item.entry.accelerators, place.accelerators)
        if not racks:
            raise InputError([_no_rack(item, question, place)])
        if rest:
            reason = f"{rest} of {item.entry.accelerators} accelerators are in a partly filled rack and are ignored"
            excluded.append(ExcludedOption(kind, item.entry.id, item.hall, reason))
        price = _unit_usd(item, log) * place.nodes
        left = residual_of(scenario.finance, life, log)
        if isinstance(item.entry, Asset):
            terms = _asset(item.entry, place, racks, price, life, left, scenario, log)
        else:
            terms = _order(item.entry, place, racks, price, life, left, scenario, log)
        if terms.first >= scenario.horizon.quarters:
            excluded.append(
                ExcludedOption(
                    kind, item.entry.id, item.hall, "its median delivery is after the horizon"
                )
            )
        elif terms.last <= 0:
            excluded.append(
                ExcludedOption(
                    kind, item.entry.id, item.hall, "it is at its end of life when the plan begins"
                )
            )
        elif racks:
            found.append(terms)
    return tuple(found)


def _misfit(item: _Where, question: Question, excluded: list[ExcludedOption]) -> Problem:
    """Return why hardware does not fit its hall, with its place."""
    kind = "assets" if isinstance(item.entry, Asset) else "orders"
    entries: Sequence[Asset | Order] = getattr(question.scenario, kind)
    mine = (x for x in excluded if x.id == item.system.id and x.where.startswith(item.hall))
    reasons = (
        "; ".join(dict.fromkeys(x.reason for x in mine))
        or "no fabric of the scenario can connect it"
    )
    cause = f"{item.entry.id}: {item.system.id} does not fit {item.hall} under {item.cooling}: {reasons}"
    return question.tree.problem(
        "DC033", cause, (kind, [x.id for x in entries].index(item.entry.id))
    )


def _no_rack(item: _Where, question: Question, place: Placement) -> Problem:
    kind = "assets" if isinstance(item.entry, Asset) else "orders"
    entries: Sequence[Asset | Order] = getattr(question.scenario, kind)
    cause = f"{item.entry.id}: {item.entry.accelerators} accelerators do not fill one rack of {place.nodes} nodes"
    where = (kind, [x.id for x in entries].index(item.entry.id), "accelerators")
    return question.tree.problem("DC033", cause, where, help="give the actual nodes_per_rack")


def _unit_usd(item: _Where, log: InputLog) -> float:
    kind = "assets" if isinstance(item.entry, Asset) else "orders"
    if item.entry.price_usd is not None:
        return log.take(f"{kind}.{item.entry.id}.price_usd", item.entry.price_usd)
    return (
        log.take(f"systems.{item.system.id}.price_usd", item.system.price_usd)
        if item.system.price_usd
        else 0.0
    )


def _asset(
    asset: Asset,
    place: Placement,
    racks: int,
    price: float,
    life: float,
    left: Callable[[float], float],
    scenario: Scenario,
    log: InputLog,
) -> ExistingTerms:
    quarters = scenario.horizon.quarters
    age = quarter_index(scenario.horizon.start) - quarter_index(asset.in_service)
    if asset.life_years is not None:
        life = log.take(f"assets.{asset.id}.life_years", asset.life_years)
    last = round(life * QUARTERS_PER_YEAR) - age

    def worth(t: float) -> float:
        return price * left((age + t) / QUARTERS_PER_YEAR) if t < last else 0.0

    sold = tuple(worth(t + 0.5) for t in range(quarters)) if asset.may_sell else ()
    return ExistingTerms(
        id=asset.id,
        key=place.key,
        racks=racks,
        first=0,
        last=last,
        end_usd=worth(quarters),
        resale_usd=sold,
        in_service=True,
    )


def _order(
    order: Order,
    place: Placement,
    racks: int,
    price: float,
    life: float,
    left: Callable[[float], float],
    scenario: Scenario,
    log: InputLog,
) -> ExistingTerms:
    start, key = quarter_index(scenario.horizon.start), f"orders.{order.id}"
    late = int(delay_of(order, log)[1] // DAYS_PER_QUARTER)
    first = quarter_index(order.expected) - start + late
    age = (scenario.horizon.quarters - first) / QUARTERS_PER_YEAR
    paid = log.take(f"{key}.paid_frac", order.paid_frac)
    fee = order.cancellation_fee_frac
    return ExistingTerms(
        id=order.id,
        key=place.key,
        racks=racks,
        first=first,
        last=first + round(life * QUARTERS_PER_YEAR),
        end_usd=(price + place.storage_usd) * left(max(age, 0.0)) if age < life else 0.0,
        due_usd=(1.0 - paid) * price + place.storage_usd,
        storage_usd=place.storage_usd,
        cancel_usd=price * (log.take(f"{key}.cancellation_fee_frac", fee) - paid)
        if fee is not None
        else None,
    )


def delay_of(order: Order, log: InputLog) -> Bounds:
    """Return the delivery delay of an order in days: its own, or the catalog's."""
    if order.slip_days is None:
        low, high = log.catalog.get("reliability", "delivery-slip-days", Parameter).value.bounds
        return low, log.parameter("reliability", "delivery-slip-days"), high
    s = order.slip_days
    names = ("p10", "p50", "p90")
    low, mid, high = (log.take(f"orders.{order.id}.slip_days.{n}", getattr(s, n)) for n in names)
    return low, mid, high


def delays(
    late: dict[tuple[str, str], dict[str, Bounds]],
    question: Question,
    halls: dict[str, HallTerms],
    orderable: Iterable[str],
    log: InputLog,
) -> dict[tuple[str, str], dict[str, Bounds]]:
    """Return the delays before a job, by hall and system.

    If a job can use no new racks, only the delays of the orders count.
    """
    result, known = dict(late), set(orderable)
    groups: dict[tuple[str, str], list[Asset | Order]] = defaultdict(list)
    for item in entries_of(question, halls):
        groups[item.hall, item.system.id].append(item.entry)
    for place, entries in groups.items():
        if place[1] in known:
            continue
        rests = [_rest(delay_of(x, log)) for x in entries if isinstance(x, Order)]
        low, mid, high = (
            (max(values) for values in zip(*rests, strict=True)) if rests else (0.0, 0.0, 0.0)
        )
        result[place] = {"delivery": (low, mid, high)} if high > 0 else {}
    return result


def _rest(delay: Bounds) -> Bounds:
    """Return the delay beyond the integer number of quarters that the plan already adds."""
    whole = DAYS_PER_QUARTER * (delay[1] // DAYS_PER_QUARTER)
    low, mid, high = (max(x - whole, 0.0) for x in delay)
    return low, mid, high


def with_existing_fit_out(problem: PlanningProblem) -> PlanningProblem:
    """Return halls with the parts that assets already paid for.

    They are the fitted hall units, and the network of the racks by fabric option.
    """
    most = {p.key: p.max_racks_unit for p in problem.placements}
    share: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    racks: dict[P, int] = defaultdict(int)
    for h in problem.existing:
        if h.in_service:
            share[h.key[0]][h.key[1]] += h.racks / most[h.key]
            racks[h.key] += h.racks
    halls = []
    for hall in problem.halls:
        if hall.id not in share:
            halls.append(hall)
            continue
        units = {c: min(math.ceil(x - 1e-9), hall.count) for c, x in share[hall.id].items()}
        nets = {
            o.id: _network(problem, hall.id, o.id, racks)
            for o in problem.fabrics
            if o.hall == hall.id
        }
        parts = {
            "switches": {f: sum(n.switches.values()) for f, n in nets.items()},
            "transceivers": {f: n.transceivers for f, n in nets.items()},
        }
        paid = {f: n.usd for f, n in nets.items()}
        halls.append(
            replace(hall, existing_units=units, existing_units_usd=paid, existing_parts=parts)
        )
    return replace(problem, halls=tuple(halls))


def _network(problem: PlanningProblem, hall: str, option: str, racks: Mapping[P, int]) -> Network:
    try:
        return exact_network(problem, hall, option, racks)
    except ValueError:  # the option does not reach all racks and cannot be chosen
        return EMPTY


def connected(
    question: Question,
    halls: dict[str, HallTerms],
    fabrics: Sequence[FabricOption],
    excluded: list[ExcludedOption],
) -> list[FabricOption]:
    """Return the fabric options; a hall with assets keeps only the family of its assets."""
    own = {
        x.hall: question.catalog.get("fabrics", x.entry.fabric, Fabric).id
        for x in entries_of(question, halls)
        if isinstance(x.entry, Asset) and x.entry.fabric
    }
    kept = []
    for option in fabrics:
        if own.get(option.hall, option.family) == option.family:
            kept.append(option)
        else:
            excluded.append(
                ExcludedOption(
                    Kind.FABRIC,
                    option.id,
                    option.hall,
                    f"the assets of the hall use {own[option.hall]}",
                )
            )
    return kept

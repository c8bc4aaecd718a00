"""Racks of existing and on-order hardware: life, price and disposal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from dcplan.errors import InputError, Problem
from dcplan.inputs.excluded import ExcludedOption, Kind
from dcplan.inputs.log import InputLog
from dcplan.inputs.residual_value import residual_of
from dcplan.planning.problem.existing.delays import delay_of
from dcplan.planning.problem.existing.places import Where, entries_of
from dcplan.planning.problem.terms import ExistingTerms, HallTerms, Placement
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Asset, Order, Scenario
from dcplan.units import DAYS_PER_QUARTER, QUARTERS_PER_YEAR, quarter_index


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


def _misfit(item: Where, question: Question, excluded: list[ExcludedOption]) -> Problem:
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


def _no_rack(item: Where, question: Question, place: Placement) -> Problem:
    kind = "assets" if isinstance(item.entry, Asset) else "orders"
    entries: Sequence[Asset | Order] = getattr(question.scenario, kind)
    cause = f"{item.entry.id}: {item.entry.accelerators} accelerators do not fill one rack of {place.nodes} nodes"
    where = (kind, [x.id for x in entries].index(item.entry.id), "accelerators")
    return question.tree.problem("DC033", cause, where, help="give the actual nodes_per_rack")


def _unit_usd(item: Where, log: InputLog) -> float:
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
        return price * left((age + t) / QUARTERS_PER_YEAR) if t <= last else 0.0

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
        paid_usd=price,
        age=age,
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
        end_usd=(price + place.storage_usd) * left(max(age, 0.0)) if age <= life else 0.0,
        due_usd=(1.0 - paid) * price + place.storage_usd,
        storage_usd=place.storage_usd,
        advance_usd=paid * price,
        cancel_usd=price * (log.take(f"{key}.cancellation_fee_frac", fee) - paid)
        if fee is not None
        else None,
    )

"""Notes of the planning problem: what a plan does not count or use, and what looks implausible."""

from __future__ import annotations

from dcplan.catalog.schema import Offer, System
from dcplan.inputs.excluded import ExcludedOption, Kind
from dcplan.inputs.log import InputLog
from dcplan.inputs.lumps import lump_notes
from dcplan.planning.problem.sanity_checks import sanity_notes
from dcplan.planning.problem.systems import slice_of
from dcplan.scenario.load import Question
from dcplan.scenario.schema.places.site import Energy


def notes_of(question: Question, log: InputLog, excluded: list[ExcludedOption]) -> tuple[str, ...]:
    """Return what a plan does not count or use, from the scenario, the input log and exclusions."""
    return (
        *_warnings(question),
        *_unused(question, log),
        *lump_notes(question, log),
        *_not_counted(excluded),
    )


def counted_twice(question: Question) -> list[str]:
    """Return one sentence for each demand charge that the price of energy already contains."""
    return [
        f"{site.id}: energy.demand_usd_per_kw_month is given but usd_per_kwh is the catalog's all-in average, "
        "which already includes demand charges; give usd_per_kwh without them"
        for site in question.scenario.sites
        if site.energy.demand_usd_per_kw_month and _all_in(site.energy)
    ]


def _all_in(energy: Energy) -> bool:
    return energy.usd_per_kwh is None and not energy.time_of_use and not energy.tiers


def _warnings(question: Question) -> list[str]:
    scenario = question.scenario
    notes = [*counted_twice(question), *_sliced(question)]
    notes += _idle_prices(question)
    if scenario.has_financing and scenario.objective == "min_cost":
        notes.append(
            "the plan has the lowest cost before taxes, payment terms and debt; objective: "
            "min_after_tax_cost chooses after them"
        )
    return [*notes, *sanity_notes(question)]


def _sliced(question: Question) -> list[str]:
    """Name the pods that the plan orders in parts."""
    table = question.catalog.table("systems", System)
    named = () if question.scenario.systems == "all" else question.scenario.systems
    pods = [question.catalog.get("systems", name, System) for name in named]
    parts = [(pod.id, slice_of(pod, table)) for pod in pods]
    return [
        f"{pod} is ordered in its parts, {part}: a plan buys as many as it needs"
        for pod, part in parts
        if part is not None
    ]


def _idle_prices(question: Question) -> list[str]:
    """Find cloud prices that the scenario does not use."""
    cloud = question.scenario.cloud
    if cloud is None:
        return []
    find = question.catalog.get
    offers = None if cloud.offers == "all" else {find("cloud", x, Offer).id for x in cloud.offers}
    terms = {f"{t.replace('-', '_')}_usd_per_h" for t in cloud.terms}
    notes = []
    for name, prices in cloud.prices.items():
        if offers is not None and find("cloud", name, Offer).id not in offers:
            notes.append(f"cloud.prices.{name} is not used: it is not among cloud.offers")
        notes += [
            f"cloud.prices.{name}.{key} is not used: not among cloud.terms"
            for key in prices
            if key not in terms
        ]
    return notes


def _unused(question: Question, log: InputLog) -> list[str]:
    """Find the scenario's own catalog values that this plan does not use."""
    scenario, text = question.scenario, [f".{key}." for key in log.rows]
    families = {scenario.fabric.id} if scenario.fabric else set(log.catalog.rows["fabrics"])
    if not scenario.fabric and scenario.fabrics != "all":
        families = set(
            scenario.fabrics
        )  # a family shapes the network without a number in the input log
    if scenario.storage and scenario.storage.tiers:  # compared, also where not chosen
        families |= set(log.catalog.rows["storage_tiers"])
    return [
        f"prices.{key} is not used by this plan"
        for key in scenario.prices
        if key not in families and not any(f".{key}." in row for row in text)
    ]


def _not_counted(excluded: list[ExcludedOption]) -> list[str]:
    """List the user's own hardware that the plan ignores completely or in part."""
    return [
        f"{x.kind} {x.id} ({x.where}): {x.reason}"
        for x in excluded
        if x.kind in (Kind.ASSET, Kind.ORDER)
    ]

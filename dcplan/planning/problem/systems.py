"""Requested systems with their power, price and ordering terms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dcplan.catalog.schema import System
from dcplan.inputs.excluded import Cause, ExcludedOption, Kind
from dcplan.inputs.log import InputLog
from dcplan.planning.problem.terms import PartsTerms, SupplyTerms
from dcplan.provenance import Quantity
from dcplan.scenario.checks.references import makers
from dcplan.scenario.schema import Scenario, Supply
from dcplan.units import QUARTERS_PER_YEAR, quarter_index

DEFAULT_LEAD_QUARTERS = 1
"""Default lead time if neither `supply` nor the catalog gives one."""


@dataclass(frozen=True)
class SystemTerms:
    """One system with its power, price and ordering terms, before its placement in a hall."""

    row: System
    rated_kw: float
    peak_kw: float
    training_kw: float
    research_kw: float
    idle_kw: float
    price_usd: float
    lead: int
    first_order: int
    maintenance_frac_per_year: float
    price_factor: tuple[float, ...] = ()
    makers: tuple[str, ...] = ()


def requested_systems(
    scenario: Scenario, log: InputLog, excluded: list[ExcludedOption]
) -> list[SystemTerms]:
    """Return the systems of the scenario (or all on sale), and exclude those without data."""
    table = log.catalog.table("systems", System)
    if scenario.systems == "all":
        ids = list(table)
    else:
        ids = [log.catalog.get("systems", name, System).id for name in scenario.systems]
    found = []
    for key in _in_slices(ids, table, excluded):
        row = table[key]
        lack = _lacks(row, fleet=False)
        if lack is not None:
            excluded.append(ExcludedOption(Kind.SYSTEM, key, "", *lack))
            continue
        found.append(system_terms(row, scenario, log))
    return found


def slice_of(pod: System, table: Mapping[str, System]) -> str | None:
    """Return the row of the smallest part of a pod that can be ordered; None without such a row."""
    return next(
        (
            row.id
            for row in table.values()
            if row.accelerator == pod.accelerator
            and row.accelerators == pod.slice_accelerators
            and row.id != pod.id
        ),
        None,
    )


def _in_slices(
    ids: Iterable[str], table: Mapping[str, System], excluded: list[ExcludedOption]
) -> list[str]:
    """Replace each pod by the smallest part of it that can be ordered, if that is a row."""
    found: dict[str, None] = {}
    for key in ids:
        pod = table[key]
        part = slice_of(pod, table)
        if part is not None:
            reason = f"ordered in slices of {pod.slice_accelerators} accelerators: {part}"
            excluded.append(ExcludedOption(Kind.SYSTEM, key, "", reason))
        found[part or key] = None
    return list(found)


def _lacks(row: System, *, fleet: bool) -> tuple[str, Cause] | None:
    if not row.sold and not fleet:
        return row.not_sold_reason or "not for sale", Cause.OTHER
    if row.rated_kw is None:
        return "the catalog has no power value", Cause.OTHER
    if row.price_usd is None:
        return "no price", Cause.NO_PRICE
    if row.release is None and not fleet:
        return "the catalog has no release date", Cause.OTHER
    if row.scaleout_ports is None or row.scaleout_port_gbps is None or not row.protocols:
        return "the catalog has no scale-out ports", Cause.OTHER
    return None


def system_terms(row: System, scenario: Scenario, log: InputLog) -> SystemTerms:
    """Resolve rated, peak and average power, price, lead time and release of one system."""
    key = f"systems.{row.id}"
    own = row.own_network
    own_kw = log.take(f"{key}.own_network.kw", own.kw) if own else 0.0
    own_usd = log.take(f"{key}.own_network.usd", own.usd) if own else 0.0
    rated = log.take(f"{key}.rated_kw", _given(row.rated_kw)) + own_kw
    peak = (
        log.take(f"{key}.peak_kw", row.peak_kw) + own_kw
        if row.peak_kw
        else rated * log.parameter("power", "peak-over-rated")
    )
    start = quarter_index(scenario.horizon.start)
    supply = next((s for s in scenario.supply if _ordered_as(s, log) == row.id), None)
    promised = supply.lead_quarters if supply else None
    asked = promised if promised is not None else row.lead_quarters
    lead = int(log.assumed(f"{key}.lead_quarters", asked, DEFAULT_LEAD_QUARTERS))
    release = quarter_index(row.release) - start if row.release else 0
    since = quarter_index(supply.from_quarter) - start if supply and supply.from_quarter else 0

    def state(name: str, given: Quantity | None) -> float:
        if given is not None:
            return log.take(f"{key}.average_kw.{name}", given) + own_kw
        return rated * log.parameter("power", f"average-{name}-frac")

    return SystemTerms(
        row=row,
        rated_kw=rated,
        peak_kw=peak,
        training_kw=state("training", row.average_kw.training),
        research_kw=state("research", row.average_kw.research),
        idle_kw=state("idle", row.average_kw.idle),
        price_usd=log.take(f"{key}.price_usd", _given(row.price_usd)) + own_usd,
        lead=lead,
        first_order=max(release, since, 0),
        maintenance_frac_per_year=log.parameter("finance", "maintenance-hardware-frac-per-year"),
        price_factor=_price_factor(row, own_usd, supply, scenario, log),
        makers=makers(row, log.catalog),
    )


def _ordered_as(supply: Supply, log: InputLog) -> str:
    """Return the row that a vendor's terms apply to: for a pod, the part that is ordered."""
    row = log.catalog.get("systems", supply.system, System)
    return slice_of(row, log.catalog.table("systems", System)) or row.id


def _price_factor(
    row: System, own_usd: float, supply: Supply | None, scenario: Scenario, log: InputLog
) -> tuple[float, ...]:
    """Return the price by order quarter relative to the catalog: a list, or a rate per year."""
    quarters, base = scenario.horizon.quarters, _given(row.price_usd).value
    if supply is not None and supply.price_usd is not None:
        quoted = log.series(f"supply.{row.id}.price_usd", supply.price_usd, quarters)
        return tuple((x + own_usd) / (base + own_usd) for x in quoted)
    own = supply.price_change_frac_per_year if supply else None
    change = own or scenario.finance.hardware_price_change_frac_per_year
    if change is None:
        return ()
    key = (
        f"supply.{row.id}.price_change_frac_per_year"
        if own
        else "finance.hardware_price_change_frac_per_year"
    )
    rate = log.take(key, change)
    return tuple((1.0 + rate) ** (t / QUARTERS_PER_YEAR) for t in range(quarters))


def _given(quantity: Quantity | None) -> Quantity:
    if quantity is None:  # callers exclude such systems with _lacks
        msg = "a system without rated_kw or price is in the planning problem"
        raise ValueError(msg)
    return quantity


def supply_terms(scenario: Scenario, log: InputLog) -> tuple[SupplyTerms, ...]:
    """Return the vendor limits by order quarter."""
    quarters = scenario.horizon.quarters
    result = []
    for entry in scenario.supply:
        if entry.racks_per_quarter is None:
            continue
        key = _ordered_as(entry, log)
        racks = log.series(f"supply.{key}.racks_per_quarter", entry.racks_per_quarter, quarters)
        result.append(SupplyTerms(key, racks))
    return tuple(result)


def parts_terms(scenario: Scenario, log: InputLog) -> tuple[PartsTerms, ...]:
    """Return the given limits of parts by quarter."""
    given, quarters = scenario.parts_per_quarter, scenario.horizon.quarters
    series = ((name, getattr(given, name)) for name in ("switches", "transceivers", "power_blocks"))
    found = [(name, s) for name, s in series if s is not None]
    return tuple(PartsTerms(n, log.series(f"parts_per_quarter.{n}", s, quarters)) for n, s in found)

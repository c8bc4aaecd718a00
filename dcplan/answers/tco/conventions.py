"""The conventions of a comparison: its hours, the lines that count, quotes and mixes of terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dcplan.catalog.schema import Offer
from dcplan.economics.cash_flow import AssetClass, Charge
from dcplan.economics.monthly.side import GOODPUT_LOSS, Line
from dcplan.economics.rental import amortized_usd_per_h
from dcplan.errors import InputError
from dcplan.inputs.cloud_prices import LENGTHS
from dcplan.inputs.log import InputLog
from dcplan.provenance import Quantity, Status
from dcplan.scenario.load import Question
from dcplan.scenario.schema.comparison import RENTED_LINES, Commitment, Comparison, RentQuote
from dcplan.scenario.schema.places.site import Energy
from dcplan.scenario.schema.top import Scenario
from dcplan.units import HOURS_PER_MONTH, MONTHS_PER_QUARTER

OWNED, RENTED = "owned.", "rented."
RESIDUAL, GOODPUT = "residual", "goodput-loss"
OF_ASSET = {
    AssetClass.RACKS: "racks",
    AssetClass.EXISTING: "racks",
    AssetClass.NETWORK: "network",
    AssetClass.STORAGE: "storage",
    AssetClass.BUILDING: "building",
    AssetClass.COOLING: "cooling-and-fit-out",
    AssetClass.POWER: "power",
    AssetClass.LAND: "land",
    AssetClass.GRID_ENERGY: "energy",
}
OF_CHARGE = {
    Charge.DEMAND.value: "demand-charge",
    Charge.STAFF.value: "staff",
    Charge.LAND_TAX.value: "land-tax",
    Charge.MAINTENANCE.value: "hardware-maintenance",
    Charge.FACILITY.value: "facility",
    Charge.LEASE.value: "lease",
    Charge.LINK.value: "network",
}
ONSITE = "onsite-plants"


def owned_name(line: Line) -> str:
    """Return the name of an owned cost line in ``comparison.leave_out``.

    Examples
    --------
    >>> owned_name(Line("racks dgx-h200", AssetClass.RACKS)), owned_name(Line("upkeep of a turbine"))
    ('racks', 'onsite-plants')
    """
    if line == GOODPUT_LOSS:
        return GOODPUT
    return OF_ASSET.get(line.asset) or OF_CHARGE.get(line.label) or ONSITE


ALL_HOURS = Quantity(value=1.0, status=Status.DEFAULT, source="default of the scenario format")
"""Utilization of a fleet that gives none."""


@dataclass(frozen=True)
class Conventions:
    """How a comparison counts hours and which lines count; the default is the calendar and all lines."""

    hours_per_month: float = HOURS_PER_MONTH
    left_out: frozenset[str] = frozenset()
    """Names that do not count, each with or without its side."""
    only: frozenset[str] = frozenset()
    """Names that count; empty for all."""
    quotes: Mapping[str, RentQuote] = field(default_factory=dict)
    """Offer -> own lines of its bill."""
    mixes: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Mix -> commitment term -> share of the fleet."""

    def counts_owned(self, name: str) -> bool:
        """Return whether an owned line counts."""
        return self._counts(name, OWNED)

    def counts_rented(self, name: str) -> bool:
        """Return whether a line of a rent counts."""
        return self._counts(name, RENTED)

    @property
    def counts_any_rent(self) -> bool:
        """Whether any line of a rent counts; without one there is nothing to compare with."""
        return any(self.counts_rented(name) for name in RENTED_LINES)

    def _counts(self, name: str, side: str) -> bool:
        names = {name, side + name}
        return not names & self.left_out and (not self.only or bool(names & self.only))

    def commitment(self, offer: str, term: str) -> Commitment | None:
        """Return the payments of a commitment, if a quote has them."""
        quote = self.quotes.get(offer)
        found = quote.commitments if quote is not None else ()
        return next((x for x in found if x.term == term), None)


def conventions_of(question: Question, log: InputLog) -> Conventions:
    """Return the conventions of a scenario, recorded as inputs."""
    given, cloud = question.scenario.comparison, question.scenario.cloud
    without = frozenset(f"{RENTED}{name}" for name in cloud.leave_out) if cloud else frozenset()
    if given is None:
        return Conventions(left_out=without)
    hours = given.hours_per_month
    if given.accelerator_hours is not None:
        log.take("comparison.accelerator_hours", given.accelerator_hours)
    for quote in given.rents:
        _record_commitments(quote, log)
    for name in ("leave_out", "only"):
        if getattr(given, name):
            log.text(f"comparison.{name}", ", ".join(getattr(given, name)), Status.INPUT)
    return Conventions(
        hours_per_month=log.take("comparison.hours_per_month", hours) if hours else HOURS_PER_MONTH,
        left_out=frozenset(given.leave_out) | without,
        only=frozenset(given.only or ()),
        quotes={question.catalog.get("cloud", x.id, Offer).id: x for x in given.rents},
        mixes={
            mix.id: {
                term: log.take(f"comparison.mixes.{mix.id}.shares.{term}", share)
                for term, share in mix.shares.items()
            }
            for mix in given.mixes
        },
    )


def _record_commitments(quote: RentQuote, log: InputLog) -> None:
    """Record the payments of commitments, from which their price of an hour follows."""
    for i, paid in enumerate(quote.commitments):
        for name in ("upfront_usd", "usd_per_month"):
            given: Quantity | None = getattr(paid, name)
            if given is not None:
                log.take(f"comparison.rents.{quote.id}.commitments[{i}].{name}", given)


def fleet_hours(scenario: Scenario) -> float:
    """Return the hours of a fleet over the horizon, used or not: accelerators x months x hours."""
    given, fleet = scenario.comparison, scenario.fleet
    hours = given.hours_per_month if given is not None else None
    month = hours.value if hours is not None else HOURS_PER_MONTH
    return (fleet.accelerators if fleet else 0) * _months(scenario) * month


def _months(scenario: Scenario) -> int:
    return scenario.horizon.quarters * MONTHS_PER_QUARTER


def utilization_change(question: Question, used_frac: float) -> str:
    """Return the change of the scenario that sets the utilization of the fleet.

    A scenario with own accelerator-hours gets as many as that utilization has.
    """
    given = question.scenario.comparison
    if given is None or given.accelerator_hours is None:
        return f"fleet.utilization_frac={used_frac!r}"
    return f"comparison.accelerator_hours={used_frac * fleet_hours(question.scenario)!r}"


def has_conventions(question: Question) -> bool:
    """Return whether `tco` counts the bill of a fleet in a way that a plan does not."""
    scenario = question.scenario
    tiers = any(site.energy.tiers for site in scenario.sites)
    return scenario.fleet is not None and (scenario.comparison is not None or tiers)


def planned_question(question: Question) -> Question:
    """Return the question without the conventions, for the plan of the fleet's halls and networks.

    Own accelerator-hours become the utilization, commitments paid upfront their price per hour. A
    fleet without a utilization works all hours on both sides: energy of the owned side, and rented
    hours. The plan counts a tiered tariff at the price of its first tier; the comparison then bills the tiers.

    Raises
    ------
    InputError
        When the accelerator-hours exceed those of the fleet.
    """
    scenario, given = question.scenario, question.scenario.comparison
    sites = tuple(
        site.model_copy(update={"energy": _first_tier(site.energy)}) if site.energy.tiers else site
        for site in scenario.sites
    )
    changes: dict[str, object] = {"sites": sites, "comparison": None}
    fleet = scenario.fleet
    if given is not None and given.accelerator_hours is not None and fleet is not None:
        used = _used_frac(question, given.accelerator_hours)
        changes["fleet"] = fleet.model_copy(update={"utilization_frac": used})
    elif fleet is not None and fleet.utilization_frac is None:
        changes["fleet"] = fleet.model_copy(update={"utilization_frac": ALL_HOURS})
    if given is not None and scenario.cloud is not None:
        prices = _with_commitments(given, scenario.cloud.prices)
        changes["cloud"] = scenario.cloud.model_copy(update={"prices": prices})
    return replace(question, scenario=scenario.model_copy(update=changes))


def _used_frac(question: Question, hours: Quantity) -> Quantity:
    every = fleet_hours(question.scenario)
    if hours.value > every * (1.0 + 1e-9):
        cause = (
            f"comparison.accelerator_hours is {hours.value:,.0f} h, but the fleet has "
            f"{every:,.0f} h in the horizon"
        )
        path = ("comparison", "accelerator_hours")
        help_text = "give more accelerators, or a longer horizon"
        raise InputError([question.tree.problem("DC015", cause, path, help=help_text)])
    low, high = (None if x is None else min(x / every, 1.0) for x in (hours.low, hours.high))
    share = {"value": min(hours.value / every, 1.0), "low": low, "high": high}
    return hours.model_copy(update=share)


def _first_tier(energy: Energy) -> Energy:
    return energy.model_copy(update={"tiers": (), "usd_per_kwh": [energy.tiers[0].usd_per_kwh]})


def _with_commitments(
    given: Comparison, prices: Mapping[str, Mapping[str, Quantity]]
) -> dict[str, dict[str, Quantity]]:
    """Return the prices of the scenario, with the price per hour of commitments paid upfront."""
    found = {offer: dict(terms) for offer, terms in prices.items()}
    month = given.hours_per_month.value if given.hours_per_month else HOURS_PER_MONTH
    for quote in given.rents:
        for x in quote.commitments:
            key = f"{x.term.replace('-', '_')}_usd_per_h"
            upfront = x.upfront_usd or Quantity(value=0.0)
            usd = committed_usd_per_h(upfront.value, _monthly(x), x.term, month)
            found.setdefault(quote.id, {})[key] = upfront.model_copy(
                update={"value": usd, "low": None, "high": None, "status": Status.DERIVED}
            )
    return found


def _monthly(commitment: Commitment) -> float:
    return commitment.usd_per_month.value if commitment.usd_per_month is not None else 0.0


def committed_usd_per_h(
    upfront_usd: float, usd_per_month: float, term: str, hours_per_month: float
) -> float:
    """Return the price of an hour of a commitment with all its payments.

    Examples
    --------
    >>> round(committed_usd_per_h(220_000, 18_333.33, "reserved-1y", 730), 2)
    50.23
    """
    months = LENGTHS[term] * MONTHS_PER_QUARTER
    return float(amortized_usd_per_h(upfront_usd, usd_per_month, months, months * hours_per_month))


def refuse_hardware_leases(question: Question) -> None:
    """Reject leases of racks, which only a plan chooses.

    Raises
    ------
    InputError
        If the scenario offers leases.
    """
    if question.scenario.finance.leases:
        cause = (
            "finance.leases are choices of `dcplan plan`; `tco` compares bought hardware with rent"
        )
        more = (
            "run dcplan plan, remove finance.leases, or give the lease as your own line in "
            "comparison.lines (how-to of finance, lease or buy)"
        )
        path = ("finance", "leases")
        raise InputError([question.tree.problem("DC015", cause, path, help=more)])

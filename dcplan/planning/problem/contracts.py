"""Contracts for power, the least share of carbon-free energy, prices of carbon and water."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dcplan.errors import InputError
from dcplan.inputs.log import InputLog
from dcplan.planning.problem.energy import OnsiteTerms, profile_of, shapes_at
from dcplan.provenance import Quantity, Status
from dcplan.scenario.load import Question
from dcplan.scenario.schema import PowerContract, Site
from dcplan.scenario.schema.places.energy import STEP_MW
from dcplan.units import KW_PER_MW, TYPICAL_YEAR_HOURS, quarter_index


@dataclass(frozen=True)
class ContractTerms:
    """A contract for power through the grid: MW of one step, prices by quarter, output by hour."""

    id: str
    step_mw: float
    most_steps: int
    usd_per_mwh: tuple[float, ...]
    """Price of all output."""
    surplus_usd_per_mwh: tuple[float, ...]
    """Price of output that the load does not use."""
    delivery_usd_per_mwh: tuple[float, ...]
    """Grid charges on output that the load uses."""
    profile: tuple[float, ...]
    """Output over contracted power in each hour of a year."""
    first: int = 0
    """First quarter of delivery."""
    carbon_free: bool = True

    def used_usd_per_mwh(self, t: int) -> float:
        """Return what a used MWh costs more than one that is sold: delivery, and no sale."""
        return self.surplus_usd_per_mwh[t] + self.delivery_usd_per_mwh[t]

    def output_mwh(self, start: str, t: int) -> float:
        """Return the output of one step in a quarter, used or not."""
        shapes, each_h = shapes_at((self,), start, t)
        return self.step_mw * float(shapes.sum()) * each_h


@dataclass(frozen=True)
class TariffPrices:
    """Price of the tariff by quarter, and running costs of each quarter over those of today."""

    usd_per_kwh: tuple[float, ...]
    level: tuple[float, ...]


@dataclass(frozen=True)
class MatchedTerms:
    """Least share of the energy of each year that is carbon-free; None without a limit."""

    annual_frac: float | None = None
    hourly_frac: float | None = None


def traded(site_id: str, contracts: Iterable[ContractTerms]) -> list[str]:
    """Return a sentence for each contract whose surplus sells for more than it costs.

    A plan then signs as much of it as it may, whatever the load is.

    Examples
    --------
    >>> wind = ContractTerms("wind", 1.0, 80, (20.0, 40.0), (30.0, 30.0), (0.0, 0.0), (0.4,) * 8760)
    >>> traded("s", [wind])[0]
    's: surplus of wind sells at 30 USD/MWh in quarter 1, and the contract costs 20: the plan earns \
money with energy that no load uses; lower surplus_usd_per_mwh, or max_mw to what the load needs'
    """
    notes = []
    for x in contracts:
        gains = [
            t
            for t, (sold, paid) in enumerate(zip(x.surplus_usd_per_mwh, x.usd_per_mwh, strict=True))
            if t >= x.first and sold > paid
        ]
        if gains:
            t = gains[0]
            notes.append(
                f"{site_id}: surplus of {x.id} sells at {x.surplus_usd_per_mwh[t]:,.4g} USD/MWh in quarter "
                f"{t + 1}, and the contract costs {x.usd_per_mwh[t]:,.4g}: the plan earns money with "
                "energy that no load uses; lower surplus_usd_per_mwh, or max_mw to what the load needs"
            )
    return notes


def contract_terms(
    site: Site, tariff: TariffPrices, question: Question, log: InputLog
) -> tuple[ContractTerms, ...]:
    """Return the contracts that a site may sign.

    A single price rises with inflation, as that of the tariff does; prices by quarter are nominal.

    Raises
    ------
    InputError
        When a profile cannot be read, or when selling all energy pays more than using it saves.
    """
    return tuple(_contract(entry, site, tariff, question, log) for entry in site.ppa)


def _contract(
    entry: PowerContract, site: Site, tariff: TariffPrices, question: Question, log: InputLog
) -> ContractTerms:
    scenario = question.scenario
    key, quarters = f"sites.{site.id}.ppa.{entry.id}", scenario.horizon.quarters
    at = ("sites", scenario.sites.index(site), "ppa", site.ppa.index(entry))

    def priced(name: str, given: Sequence[Quantity] | None) -> tuple[float, ...]:
        if given is None:
            return (0.0,) * quarters
        found = log.series(f"{key}.{name}", given, quarters)
        rise = tariff.level if len(given) == 1 else (1.0,) * quarters
        return tuple(x * up for x, up in zip(found, rise, strict=True))

    usd = priced("usd_per_mwh", entry.usd_per_mwh)
    sold = priced("surplus_usd_per_mwh", entry.surplus_usd_per_mwh)
    if entry.surplus_frac is not None:
        share = log.take(f"{key}.surplus_frac", entry.surplus_frac)
        sold = tuple(share * x for x in usd)
    delivery = priced("delivery_usd_per_mwh", entry.delivery_usd_per_mwh)
    for t, (usd_per_kwh, x, more) in enumerate(
        zip(tariff.usd_per_kwh, sold, delivery, strict=True)
    ):
        saved = usd_per_kwh * KW_PER_MW - more
        if x > saved:
            cause = (
                f"{entry.id} sells surplus at {x:,.2f} USD/MWh in quarter {t + 1}, but a MWh that the load "
                f"uses saves {saved:,.2f} USD: selling all energy would pay more than using it"
            )
            step = "give a lower surplus price"
            field = "surplus_usd_per_mwh" if entry.surplus_frac is None else "surplus_frac"
            raise InputError([question.tree.problem("DC015", cause, (*at, field), help=step)])
    step_mw = (
        log.take(f"{key}.step_mw", entry.step_mw)
        if entry.step_mw
        else log.assumed(f"{key}.step_mw", None, STEP_MW)
    )
    first = quarter_index(entry.available_from) if entry.available_from else 0
    if entry.profile is None:
        profile = (1.0,) * TYPICAL_YEAR_HOURS
    else:
        profile = profile_of(entry.profile, at, question)
        log.text(f"{key}.profile", entry.profile, Status.INPUT)
    return ContractTerms(
        id=entry.id,
        step_mw=step_mw,
        most_steps=int(log.take(f"{key}.max_mw", entry.max_mw) / step_mw + 1e-9),
        usd_per_mwh=usd,
        surplus_usd_per_mwh=sold,
        delivery_usd_per_mwh=delivery,
        profile=profile,
        first=max(first - quarter_index(scenario.horizon.start), 0),
        carbon_free=log.answered(f"{key}.carbon_free", given=entry.carbon_free, default=True),
    )


def matched_terms(
    site: Site,
    contracts: Iterable[ContractTerms],
    plants: Iterable[OnsiteTerms],
    question: Question,
    log: InputLog,
) -> MatchedTerms:
    """Return the least shares of carbon-free energy of a site.

    Raises
    ------
    InputError
        When more hours must be matched than have any carbon-free energy.
    """
    key, given = f"sites.{site.id}.matched_share_min", site.matched_share_min
    found = MatchedTerms(
        log.take(f"{key}.annual", given.annual) if given.annual else None,
        log.take(f"{key}.hourly", given.hourly) if given.hourly else None,
    )
    plants = tuple(plants)
    steady = any(x.steady and x.lead < question.scenario.horizon.quarters for x in plants)
    if found.hourly_frac is not None and not steady:
        sources = {x: x.first for x in contracts if x.carbon_free}
        most = _hours_frac(sources | {x: x.lead for x in plants if x.weather}, question)
        if found.hourly_frac > most + 1e-9:
            cause = (
                f"{site.id}: carbon-free contracts, PV and wind give energy in at most {most:.1%} of the "
                f"hours of a quarter, so that they match less than {found.hourly_frac:.1%} hour by hour"
            )
            step = "give a carbon-free baseload contract or another profile, or a lower share"
            at = ("sites", question.scenario.sites.index(site), "matched_share_min", "hourly")
            raise InputError([question.tree.problem("DC015", cause, at, help=step)])
    return found


def _hours_frac(sources: Mapping[ContractTerms | OnsiteTerms, int], question: Question) -> float:
    """Return the largest share of the hours of a quarter in which any of some sources gives energy.

    The values are the first quarters in which the sources can serve.
    """
    horizon, most = question.scenario.horizon, 0.0
    for t in range(horizon.quarters):
        able = [x for x, first in sources.items() if first <= t]
        shapes, _ = shapes_at(able, horizon.start, t)
        most = max(most, float((shapes.sum(axis=0) > 0.0).mean()))
    return most


def carbon_price(
    site: Site, level: tuple[float, ...], log: InputLog
) -> tuple[tuple[float, ...], bool]:
    """Return the price of operational carbon by quarter, empty without one, and whether it is by market.

    A single price rises with inflation.
    """
    key, given = f"sites.{site.id}.carbon", site.carbon.usd_per_t
    if given is None:
        return (), False
    status = Status.INPUT if site.carbon.basis else Status.DEFAULT
    basis = log.text(f"{key}.basis", site.carbon.basis or "location", status)
    return rising(f"{key}.usd_per_t", given, level, log), basis == "market"


def water_price(site: Site, level: tuple[float, ...], log: InputLog) -> tuple[float, ...]:
    """Return the price of site water by quarter, empty without one; a single price rises with inflation."""
    key, given = f"sites.{site.id}.water.usd_per_m3", site.water.usd_per_m3
    return () if given is None else rising(key, given, level, log)


def rising(
    key: str, given: Sequence[Quantity], level: tuple[float, ...], log: InputLog
) -> tuple[float, ...]:
    """Return a price by quarter; a single price rises with inflation, prices by quarter are nominal."""
    found = log.series(key, given, len(level))
    rise = level if len(given) == 1 else (1.0,) * len(level)
    return tuple(usd * up for usd, up in zip(found, rise, strict=True))

"""The owned side under the conventions of a comparison: energy, own lines, lines left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from dcplan.answers.plan.plan_cost import FleetPlan, SiteEnergy
from dcplan.answers.tco.conventions import RESIDUAL, Conventions, owned_name
from dcplan.economics.cash_flow import AssetClass
from dcplan.economics.monthly.side import NOTHING, Line, Side
from dcplan.economics.ranges import Array
from dcplan.economics.rental import accelerators_usd_per_month
from dcplan.economics.run_cost import run_energy_usd
from dcplan.economics.tariffs import tiered_usd
from dcplan.inputs.log import InputLog
from dcplan.provenance import Quantity
from dcplan.scenario.load import Question
from dcplan.scenario.schema.comparison import OwnLine
from dcplan.scenario.schema.places.site import Tier
from dcplan.units import HOURS_PER_MONTH, KW_PER_MW, MONTHS_PER_QUARTER


@dataclass(frozen=True)
class SiteMonth:
    """Energy of a site in one month [kWh]."""

    it_kwh: float
    facility_kwh: float
    """IT with cooling and power losses."""
    grid_kwh: float
    """Facility without what plants on site generate."""


@dataclass(frozen=True)
class Bill:
    """A planned fleet, and the conventions under which its lines count."""

    fleet: FleetPlan
    conventions: Conventions
    used_frac: float

    def steps(self, side: Side, question: Question, log: InputLog) -> Iterator[tuple[str, Side]]:
        """Yield the name of each change of the owned side, with the side after it."""
        energy = self._energy(side, question, log)
        if energy is not None:
            side = replace(side, lines={**side.lines, **energy})
            yield "energy by own hours, power or tariff", side
        own = self._own_lines(side.months, question, log)
        if own:
            side = replace(side, lines={**side.lines, **own})
            yield "own cost lines", side
        if self.conventions.left_out or self.conventions.only:
            yield "cost lines left out", self._kept(side, own)

    def _kept(self, side: Side, own: dict[Line, Array]) -> Side:
        counts = self.conventions.counts_owned
        names = {x: x.label if x in own else owned_name(x) for x in {**side.lines, **side.end_usd}}
        lines = {x: usd for x, usd in side.lines.items() if counts(names[x])}
        ends = {x: usd for x, usd in side.end_usd.items() if counts(names[x]) and counts(RESIDUAL)}
        return replace(side, lines=lines or {NOTHING: np.zeros(side.months)}, end_usd=ends)

    def _own_lines(self, months: int, question: Question, log: InputLog) -> dict[Line, Array]:
        given = question.scenario.comparison
        lines = given.lines if given is not None else ()
        return {Line(x.id): self._own_line(x, months, log) for x in lines}

    def _own_line(self, line: OwnLine, months: int, log: InputLog) -> Array:
        key, fleet, hours = f"comparison.lines.{line.id}", self.fleet, self.conventions
        cash = np.zeros(months)
        if line.usd_per_month is not None:
            cash += log.take(f"{key}.usd_per_month", line.usd_per_month)
        if line.usd_per_accelerator_hour is not None:
            rate = log.take(f"{key}.usd_per_accelerator_hour", line.usd_per_accelerator_hour)
            cash += accelerators_usd_per_month(fleet.accelerators, rate, hours.hours_per_month)
        if line.usd is not None:
            cash[0] += log.take(f"{key}.usd", line.usd)
        for name in ("units", "share_frac"):
            factor: Quantity | None = getattr(line, name)
            if factor is not None:
                cash *= log.take(f"{key}.{name}", factor)
        return cash

    def kwh_by_month(self, energy: SiteEnergy, kw: Quantity | None) -> list[SiteMonth]:
        """Return the energy of a site in a month of each quarter, by its hours and own power.

        An own average power applies to the fleet's site; it has the PUE of the plan.
        """
        hours = self.conventions.hours_per_month
        found = []
        for t, it_mwh in enumerate(energy.it_mwh):
            pue = energy.facility_mwh[t] / it_mwh if it_mwh else 1.0
            if kw is not None and energy.site == self.fleet.site:
                used = self.fleet.accelerators * self.used_frac * hours
                it, facility = (
                    float(np.asarray(run_energy_usd(kw.value, x, used, 1.0))) for x in (1.0, pue)
                )
                found.append(SiteMonth(it, facility, facility))
                continue
            scale = KW_PER_MW / MONTHS_PER_QUARTER * hours / HOURS_PER_MONTH
            series = (it_mwh, energy.facility_mwh[t], energy.grid_mwh[t])
            found.append(SiteMonth(*(x * scale for x in series)))
        return found

    def _energy(self, side: Side, question: Question, log: InputLog) -> dict[Line, Array] | None:
        """Return the energy lines under own hours, own power or tiers; None if nothing is own."""
        given = question.scenario.comparison
        kw = given.average_accelerator_kw if given is not None else None
        tiers = {site.id: site.energy.tiers for site in question.scenario.sites}
        calendar = self.conventions.hours_per_month == HOURS_PER_MONTH
        if kw is None and calendar and not any(tiers.values()):
            return None
        if kw is not None:
            log.take("comparison.average_accelerator_kw", kw)
        total = np.zeros(side.months)
        for energy in self.fleet.energy:
            total += self._site_usd(energy, kw, tiers[energy.site], log)
        grid = side.of((AssetClass.GRID_ENERGY,)) or [Line("energy", AssetClass.GRID_ENERGY)]
        return {line: total if i == 0 else 0.0 * total for i, line in enumerate(grid)}

    def _site_usd(
        self, energy: SiteEnergy, kw: Quantity | None, tiers: tuple[Tier, ...], log: InputLog
    ) -> Array:
        """Return the cost of a site's energy by month; the prices of tiers rise with inflation."""
        found = []
        months, level = self.kwh_by_month(energy, kw), self.fleet.solved.problem.finance.price_level
        rises = level or (1.0,) * len(months)
        for month, price, rise in zip(months, energy.usd_per_kwh, rises, strict=True):
            kwh = month.grid_kwh
            usd = rise * _tiered_usd(energy.site, kwh, tiers, log) if tiers else kwh * price
            found += [usd] * MONTHS_PER_QUARTER
        return np.array(found)


def _tiered_usd(site: str, kwh: float, tiers: tuple[Tier, ...], log: InputLog) -> float:
    """Price the energy of a month, each tier at its own price."""
    key = f"sites.{site}.energy.tiers"
    prices = [log.take(f"{key}[{i}].usd_per_kwh", x.usd_per_kwh) for i, x in enumerate(tiers)]
    ends = [
        log.take(f"{key}[{i}].up_to_mwh_per_month", x.up_to_mwh_per_month) * KW_PER_MW
        for i, x in enumerate(tiers)
        if x.up_to_mwh_per_month is not None
    ]
    return float(np.asarray(tiered_usd(kwh, ends, prices)))

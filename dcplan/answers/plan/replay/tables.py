"""Metrics and rows of the years of a plan by hour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dcplan.answers.plan.calendar import quarter_at
from dcplan.answers.plan.replay.quarters import QuarterHours
from dcplan.energy.replay import Part, Totals
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.result import Metric
from dcplan.specs.plan import replay as specs
from dcplan.units import L_PER_M3

NOTHING_FRAC = 1e-9
"""A part below this share of the plan is rounding; a part that is rounding alone has no row."""
NAMED_FRAC = 0.001
"""Parts below this share of the plan are not named in a reason."""
SEASON = (
    "the PUE of the scenario is the same in every quarter, and the hours have that of their season"
)


@dataclass(frozen=True)
class Measure:
    """A sum of the plan and of the hours, and the parts of their difference."""

    name: str
    planned: float
    found: float
    parts: dict[Part, float]

    @property
    def change_frac(self) -> float:
        """Difference over the plan."""
        return _share(self.found - self.planned, self.planned)


@dataclass(frozen=True)
class Year:
    """A site in a year of the plan."""

    site: str
    first_quarter: str
    quarters: tuple[QuarterHours, ...]

    @property
    def kept_usd(self) -> float:
        """Cost of energy that stays as planned."""
        return sum(q.kept_usd for q in self.quarters)

    @property
    def planned(self) -> Totals:
        """Sums of the plan."""
        return _sum(q.replay.planned for q in self.quarters).more_usd(self.kept_usd)

    @property
    def found(self) -> Totals:
        """Sums of the hours."""
        return _sum(q.replay.found for q in self.quarters).more_usd(self.kept_usd)

    @property
    def unserved_mwh(self) -> float:
        """Load that no source serves."""
        return sum(q.replay.hours.short_mwh for q in self.quarters)

    def part(self, part: Part) -> Totals:
        """Return a part of the difference."""
        return _sum(q.replay.parts[part] for q in self.quarters)

    @property
    def planned_water_m3(self) -> float:
        """Water of the plan."""
        return sum(q.planned_water_l for q in self.quarters) / L_PER_M3

    @property
    def water_m3(self) -> float:
        """Water of the hours."""
        return sum(q.water_l for q in self.quarters) / L_PER_M3

    def water_part_m3(self, part: Part) -> float:
        """Return a part of the difference in water."""
        return sum(q.water_parts_l.get(part, 0.0) for q in self.quarters) / L_PER_M3

    def measures(self) -> list[Measure]:
        """Return the measures of the year with their parts."""
        before, now = self.planned, self.found
        own = {part: self.part(part) for part in Part}
        return [
            Measure("energy", before.mwh, now.mwh, {p: x.mwh for p, x in own.items()}),
            Measure("cost of energy", before.usd, now.usd, {p: x.usd for p, x in own.items()}),
            Measure("CO2", before.t_co2, now.t_co2, {p: x.t_co2 for p, x in own.items()}),
            Measure(
                "water",
                self.planned_water_m3,
                self.water_m3,
                {p: self.water_part_m3(p) for p in Part},
            ),
        ]

    @property
    def largest_frac(self) -> float:
        """Largest difference of energy or cost, without its sign."""
        a, b = self.planned, self.found
        return max(abs(change(b.mwh, a.mwh) or 0.0), abs(change(b.usd, a.usd) or 0.0))

    @property
    def needs_reason(self) -> bool:
        """Whether a measure differs by more than 1 %."""
        return any(abs(m.change_frac) > specs.REASON_FRAC for m in self.measures())


def _sum(totals: Iterable[Totals]) -> Totals:
    each = list(totals)
    return Totals(sum(x.mwh for x in each), sum(x.usd for x in each), sum(x.t_co2 for x in each))


def change(now: float, before: float) -> float | None:
    """Return the relative change; None from nothing."""
    return now / before - 1.0 if before else None


def metrics_of(years: Sequence[Year]) -> dict[str, Metric]:
    """Return the largest difference of a year, and those of all sites and years together."""
    before, now = _sum(y.planned for y in years), _sum(y.found for y in years)
    return {
        **specs.LARGEST(max((y.largest_frac for y in years), default=0.0)),
        **specs.ENERGY(change(now.mwh, before.mwh) or 0.0),
        **specs.COST(change(now.usd, before.usd) or 0.0),
        **specs.UNSERVED(sum(y.unserved_mwh for y in years)),
    }


def year_row(year: Year) -> specs.ReplayRow:
    """Return the sums of a year."""
    before, now = year.planned, year.found
    highest = max(year.quarters, key=lambda q: q.peak_mw)
    return specs.ReplayRow(
        site=year.site,
        first_quarter=year.first_quarter,
        quarters=len(year.quarters),
        energy_mwh=before.mwh,
        hours_mwh=now.mwh,
        energy_change_frac=change(now.mwh, before.mwh),
        energy_usd=before.usd,
        hours_usd=now.usd,
        cost_change_frac=change(now.usd, before.usd),
        peak_mw=max(q.planned_peak_mw for q in year.quarters),
        hours_peak_mw=highest.peak_mw,
        limit_mw=highest.limit_mw,
        over_limit_h=sum(q.over_limit_h for q in year.quarters),
        unserved_mwh=year.unserved_mwh,
        carbon_t=before.t_co2,
        hours_carbon_t=now.t_co2,
        carbon_change_frac=change(now.t_co2, before.t_co2),
        water_m3=year.planned_water_m3,
        hours_water_m3=year.water_m3,
        water_change_frac=change(year.water_m3, year.planned_water_m3),
    )


def part_rows(year: Year) -> Iterator[specs.ReplayPartRow]:
    """Yield the parts of a year's difference that are more than rounding."""
    measures, needed = year.measures(), year.needs_reason
    for part in Part:
        shares = [_share(m.parts[part], m.planned) for m in measures]
        if max(abs(x) for x in shares) <= NOTHING_FRAC:
            continue
        energy, cost, carbon, water = (
            m.parts[part] if abs(share) > NOTHING_FRAC else 0.0
            for m, share in zip(measures, shares, strict=True)
        )
        yield specs.ReplayPartRow(
            site=year.site,
            first_quarter=year.first_quarter,
            part=part.value,
            energy_mwh=energy,
            energy_change_frac=change(year.planned.mwh + energy, year.planned.mwh),
            energy_usd=cost,
            cost_change_frac=change(year.planned.usd + cost, year.planned.usd),
            carbon_t=carbon,
            water_m3=water,
            reason=needed,
        )


def _share(own: float, before: float) -> float:
    return own / before if before else own


def reasons(years: Sequence[Year]) -> list[str]:
    """Return why energy, its cost, CO2 or water of a year differs by more than 1 %."""
    found = []
    for year in years:
        for measure in year.measures():
            if abs(measure.change_frac) <= specs.REASON_FRAC:
                continue
            shares = {part: _share(x, measure.planned) for part, x in measure.parts.items()}
            named = sorted(
                (p for p in Part if abs(shares[p]) > NAMED_FRAC), key=lambda p: -abs(shares[p])
            )
            why = ", ".join(f"{part.value} {shares[part] * 100:+.2f} %" for part in named)
            constant = Part.PUE in named and any(q.given_pue for q in year.quarters)
            season = f"; {SEASON}" if constant and measure.name != "water" else ""
            worth = f"; {_worth(year)}" if Part.OUTPUT in named else ""
            found.append(
                f"{year.site}, year from {year.first_quarter}: by hour the {measure.name} is "
                f"{measure.change_frac * 100:+.2f} % from the plan: {why}{season}{worth}"
            )
    return found


def _worth(year: Year) -> str:
    """Say what a MWh of PV, wind and contracts replaces, over the mean price that the plan has."""
    usd = -year.part(Part.OUTPUT).usd / sum(q.replay.shaped_mwh for q in year.quarters)
    side = "more" if usd > 0.0 else "less"
    return (
        f"a MWh of PV, wind and contracts replaces energy of the tariff that costs {abs(usd):,.2f} USD "
        f"{side} than the mean of its quarter, which is the price of the plan"
    )


def hour_rows(
    year: Year, problem: PlanningProblem, dry_c: npt.NDArray[np.float64] | None
) -> Iterator[tuple[specs.ReplayHourRow, dict[str, float]]]:
    """Yield the hours of a year with the power of each source."""
    for q in year.quarters:
        flows, quarter = q.replay.hours.flows, quarter_at(problem, q.t)
        by_source = {f"{name}_mw": mw.tolist() for name, mw in flows.by_source.items()}
        dry = [None] * q.weights.size if dry_c is None else dry_c[q.hours].tolist()
        cells = zip(
            q.weights.tolist(),
            dry,
            q.usd_per_mwh.tolist(),
            q.replay.load_mw.tolist(),
            flows.short_mw.tolist(),
            strict=True,
        )
        for i, each in enumerate(cells):
            row = specs.ReplayHourRow(year.site, quarter, q.hours.start + i + 1, *each)
            yield row, {name: mw[i] for name, mw in by_source.items()}

"""The years of an audited plan by hour, their difference from the plan, and its parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dcplan.answers.plan.calendar import quarter_at
from dcplan.answers.plan.replay.given import Given
from dcplan.answers.plan.replay.load import Audited
from dcplan.answers.plan.replay.quarters import OVER_FRAC, quarter_hours
from dcplan.answers.plan.replay.shapes import SiteShapes, shapes_of
from dcplan.answers.plan.replay.tables import Year, hour_rows, metrics_of, part_rows, year_row
from dcplan.answers.plan.replay.tables import reasons as reasons_of
from dcplan.inputs.log import InputLog
from dcplan.planning.audit.energy.permits import permit_limits
from dcplan.planning.problem.terms import Cooled, SiteTerms
from dcplan.planning.solve.solved import Solved
from dcplan.result import Metric, Table
from dcplan.scenario.load import Question
from dcplan.specs.plan import replay as specs
from dcplan.units import L_PER_M3, QUARTERS_PER_YEAR


@dataclass(frozen=True)
class Replayed:
    """What the replay adds to the answer of a plan."""

    metrics: dict[str, Metric]
    tables: dict[str, Table]
    warnings: list[dict[str, str]]


def replay_of(
    solved: Solved, question: Question, log: InputLog, given: Given, *, rows: bool
) -> Replayed | None:
    """Return the years of a plan by hour; None without a plan. With ``rows``, also the hours.

    Raises
    ------
    InputError
        When the prices of a file cannot have the plan's mean.
    """
    if solved.decisions is None or solved.audit is None:
        return None
    plan = Audited(solved.problem, solved.decisions, solved.audit.books)
    shapes = {s.id: _shapes(plan, s, question, given, log) for s in plan.problem.sites}
    years = [y for s in plan.problem.sites for y in _years(plan, s, shapes[s.id], given)]
    tables = {
        "replay": specs.REPLAY.table(year_row(y) for y in years),
        "replay_parts": specs.REPLAY_PARTS.table(row for y in years for row in part_rows(y)),
    }
    if rows:
        sources = list(
            dict.fromkeys(
                name for y in years for q in y.quarters for name in q.replay.hours.flows.by_source
            )
        )
        dry = {s: x.dry_c for s, x in shapes.items()}
        hours = (row for y in years for row in hour_rows(y, plan.problem, dry[y.site]))
        tables["replay_hours"] = specs.REPLAY_HOURS.wide_table(hours, [f"{x}_mw" for x in sources])
    notes = [note for s in plan.problem.sites for note in shapes[s.id].notes]
    over = [*_over_limits(plan, years), *_over_permits(plan, years)]
    texts = [*reasons_of(years), *over, *notes, *_prices(given, question)]
    warnings = [{"code": "replay", "message": text} for text in texts]
    return Replayed(metrics_of(years), tables, warnings)


def _over_limits(plan: Audited, years: Sequence[Year]) -> list[str]:
    """Name the years whose hours exceed a limit of the year that the plan keeps."""
    found = []
    for year in years:
        site = plan.problem.site(year.site)
        most_m3 = None if site.max_l_per_year is None else site.max_l_per_year / L_PER_M3
        for name, unit, used, most in (
            ("CO2", "t", year.found.t_co2, site.max_t_per_year),
            ("water", "m3", year.water_m3, most_m3),
        ):
            limit = None if most is None else most * len(year.quarters) / QUARTERS_PER_YEAR
            if limit is not None and used > limit * (1.0 + OVER_FRAC):
                found.append(
                    f"{year.site}, year from {year.first_quarter}: by hour the {name} is {used:,.0f} "
                    f"{unit}, above the limit of {limit:,.0f} {unit}, which the replay does not know: "
                    "lower the limit in the scenario by the difference and plan again"
                )
    return found


def _over_permits(plan: Audited, years: Sequence[Year]) -> list[str]:
    """Name the plants that generate more by hour than their permit allows in a calendar year."""
    problem, found = plan.problem, []
    hours = {(y.site, q.t): q.replay.hours.mwh for y in years for q in y.quarters}
    for site in problem.sites:
        made = replace(
            plan.decisions,
            onsite_mwh={
                (s, plant, t): mwh for (s, t), own in hours.items() for plant, mwh in own.items()
            },
        )
        for _, where, first, mwh, most in permit_limits(problem, made, site):
            if mwh > most * (1.0 + OVER_FRAC):
                found.append(
                    f"{where}, calendar year of {quarter_at(problem, first)}: by hour it generates "
                    f"{mwh:,.0f} MWh, above the {most:,.0f} MWh of its permit, which the replay does not "
                    "know: the cost by hour is off by what the difference costs from the grid"
                )
    return found


def _prices(given: Given, question: Question) -> list[str]:
    """Say which prices the hours have."""
    notes = []
    for site in question.scenario.sites:
        if site.id in given.prices:
            how = (
                "are taken as they are"
                if given.as_given
                else "are scaled, so that each quarter has the plan's mean price"
            )
            notes.append(f"{site.id}: the prices of the file {how}")
            continue
        tariff = "its periods have hours a week, not hours of the day; " * bool(
            site.energy.time_of_use
        )
        notes.append(
            f"{site.id}: every hour has the price of its quarter; {tariff}"
            f"for prices by hour give --price-hours {site.id}=FILE"
        )
    return notes


def _shapes(
    plan: Audited, site: SiteTerms, question: Question, given: Given, log: InputLog
) -> SiteShapes:
    """Return the hours of a site for what its plan uses."""
    used: dict[tuple[str, str, str], Cooled] = {}
    for hall in (h for h in plan.problem.halls if h.site == site.id):
        for t in range(plan.problem.quarters):
            for key, mwh in plan.books.halls[hall.id, t].it_mwh_cooled.items():
                if mwh > 0.0:
                    used[hall.id, *key] = plan.problem.cooled((hall.id, *key))
    own = next(s for s in question.scenario.sites if s.id == site.id)
    firm = {x.id for x in site.onsite if x.firm}
    bought = {o for (s, o, _), n in plan.decisions.onsite.items() if s == site.id and n}
    ordered = bought & firm
    return shapes_of(own, used, sorted(ordered), given, log)


def _years(plan: Audited, site: SiteTerms, shapes: SiteShapes, given: Given) -> Iterator[Year]:
    """Yield the years of a site with energy."""
    if not shapes.halls:
        return
    for first in range(0, plan.problem.quarters, QUARTERS_PER_YEAR):
        last = min(first + QUARTERS_PER_YEAR, plan.problem.quarters)
        quarters = [
            quarter_hours(plan, site, shapes, t, as_given=given.as_given)
            for t in range(first, last)
        ]
        year = Year(site.id, quarter_at(plan.problem, first), tuple(quarters))
        if year.planned.mwh > 0.0:
            yield year

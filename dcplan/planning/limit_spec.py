"""Form of a limit of a plan, and where a scenario has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from dcplan.planning.check_ids import CheckId
from dcplan.planning.edits import Edit
from dcplan.planning.keys import Key
from dcplan.planning.problem.work.terms import workload_of
from dcplan.provenance import Path
from dcplan.scenario.schema import Scenario, demand_path, job_path
from dcplan.units import MONTHS_PER_QUARTER, QUARTERS_PER_YEAR


class Span(Enum):
    """Meaning of the last id of a row."""

    QUARTER = "quarter"
    MONTH = "month"
    YEAR = "year"
    WHOLE = "whole"
    """No time: the row is not repeated in time, or each row is a separate limit."""


Locate = Callable[[tuple[Any, ...], Scenario], Path | None]
"""Path of a limit in a scenario, from the ids of a row; None if the scenario does not have it."""


@dataclass(frozen=True)
class LimitSpec:
    """One limit, declared once.

    Parameters
    ----------
    row : str
        Constraint of the model.
    words : str
        Text of the limit; ``{0}`` and so on are the ids of a row, ``{t}`` its quarter. Empty for a
        row that is not set by a user.
    more : str
        Unit and direction of a relaxation of the limit.
    span : Span
        Meaning of the last id of a row.
    path : callable, optional
        Path of the limit in a scenario, from the ids of a row.
    penalty_musd : float, optional
        Price of a unit in the search for remedies; only its order of magnitude matters. None: the
        search never changes the limit.
    step : float, optional
        One more unit of the limit, as a user would request it; negative for a demand. None: no
        shadow price is shown.
    checks : mapping
        Checks of the audit whose excess reduces the row's limit if integer switch and rack counts
        violate them, each with the first id of the row; an empty id means the place of the check.
    check_per_row : float
        Units of the check in one unit of the row.
    placed : bool
        Whether the first id of a row is a place.
    edit : Edit, optional
        How a scenario changes for more of the limit. None: no field of a scenario gives more.
    """

    row: str
    words: str = ""
    more: str = ""
    span: Span = Span.WHOLE
    path: Locate | None = None
    penalty_musd: float | None = None
    step: float | None = None
    checks: Mapping[CheckId, str] | None = None
    check_per_row: float = 1.0
    placed: bool = True
    edit: Edit | None = None

    def broken_rows(self, check: CheckId, where: str, quarter: int, periods: int) -> list[Key]:
        """Return the rows of a violated check of the audit: of a limit by month, all of the quarter.

        ``periods`` is the number of periods of the week, which rows by month have before the month.
        """
        first = ((self.checks or {}).get(check) or where,) if self.placed else ()
        if self.span is Span.MONTH:
            months = range(quarter * MONTHS_PER_QUARTER, (quarter + 1) * MONTHS_PER_QUARTER)
            return [Key(self.row, (*first, p, m)) for p in range(periods) for m in months]
        last = {Span.QUARTER: (quarter,), Span.YEAR: (quarter // QUARTERS_PER_YEAR,)}
        return [Key(self.row, (*first, *last.get(self.span, ())))]


def at_path(*path: str) -> Locate:
    """Return the locator of a limit that has one fixed path."""
    return lambda ids, scenario: path


def in_site(*field: str) -> Locate:
    """Return the locator of a field of the site that the first id names."""

    def find(ids: tuple[Any, ...], scenario: Scenario) -> Path | None:
        sites = [s.id for s in scenario.sites]
        return ("sites", sites.index(ids[0]), *field) if ids[0] in sites else None

    return find


def in_permit(ids: tuple[Any, ...], scenario: Scenario) -> Path | None:
    """Return the path of the permit of a plant; the first id is its site and its row of the catalog."""
    for i, site in enumerate(scenario.sites):
        for j, plant in enumerate(site.onsite):
            if ids[0] == f"{site.id} {plant.id}":
                return ("sites", i, "onsite", j, "permit_hours_per_year")
    return None


def in_hall(field: str) -> Locate:
    """Return the locator of a field of the hall that the first id names, or of its id without the field."""

    def find(ids: tuple[Any, ...], scenario: Scenario) -> Path | None:
        site, _, hall = str(ids[0]).partition("/")
        for i, s in enumerate(scenario.sites):
            for j, h in enumerate(s.halls):
                if (s.id, h.id) == (site, hall):
                    given = getattr(h, field, None) is not None
                    return ("sites", i, "halls", j, field if given else "id")
        return None

    return find


def of_job(ids: tuple[Any, ...], scenario: Scenario) -> Path | None:
    """Return the path of the deadline of a job, or of its id without a deadline."""
    job = next(j for j in scenario.workloads.jobs if j.id == ids[0])
    key = next((k for k in ("deadline_days", "deadline") if getattr(job, k) is not None), "id")
    return (*job_path(job.id, scenario), key)


def of_demand(ids: tuple[Any, ...], scenario: Scenario) -> Path | None:
    """Return the path of the demand that a row serves."""
    return demand_path(workload_of(ids[0]), scenario)


def of_supply(ids: tuple[Any, ...], scenario: Scenario) -> Path | None:
    """Return the path of the racks per quarter of a system."""
    systems = [s.system for s in scenario.supply]
    if ids[0] not in systems:  # a pod whose slices are ordered
        return ("supply",)
    return ("supply", systems.index(ids[0]), "racks_per_quarter")


def of_part(ids: tuple[Any, ...], scenario: Scenario) -> Path | None:
    """Return the path of the supply of a network part."""
    return ("parts_per_quarter", str(ids[0]))


def of_vendor(ids: tuple[Any, ...], scenario: Scenario) -> Path | None:
    """Return the path of the largest share of a vendor."""
    return ("vendor_share_max", str(ids[0]))

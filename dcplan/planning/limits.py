"""Limits of a plan, each declared once.

A declaration holds the row in the model, the checks in the audit, the unit, the step, the penalty,
the place in the scenario, the change that gives more of it, and the text for users.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from dcplan.planning.check_ids import BOUGHT, CheckId
from dcplan.planning.edits import Edit, Spread
from dcplan.planning.keys import Key
from dcplan.planning.problem.terms import PlanningProblem
from dcplan.planning.problem.work.terms import workload_of
from dcplan.provenance import Path
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Scenario, demand_path, job_path
from dcplan.units import L_PER_M3, QUARTERS_PER_YEAR, USD_PER_MUSD, quarter_index, quarter_name


class Span(Enum):
    """Meaning of the last id of a row."""

    QUARTER = "quarter"
    MONTH = "month"
    YEAR = "year"
    WHOLE = "whole"
    """No time: the row is not repeated in time, or each row is a separate limit."""


Locate = Callable[[tuple[Any, ...], Scenario], Path | None]


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

    def broken_row(self, check: CheckId, where: str, quarter: int) -> Key:
        """Return the row of a violated check of the audit."""
        first = ((self.checks or {}).get(check) or where,) if self.placed else ()
        last = {Span.QUARTER: (quarter,), Span.YEAR: (quarter // QUARTERS_PER_YEAR,)}
        return Key(self.row, (*first, *last.get(self.span, ())))


def _fixed(*path: str) -> Locate:
    return lambda ids, scenario: path


def _site(*field: str) -> Locate:
    def find(ids: tuple[Any, ...], scenario: Scenario) -> Path | None:
        sites = [s.id for s in scenario.sites]
        return ("sites", sites.index(ids[0]), *field) if ids[0] in sites else None

    return find


def _hall(field: str) -> Locate:
    def find(ids: tuple[Any, ...], scenario: Scenario) -> Path | None:
        site, _, hall = str(ids[0]).partition("/")
        for i, s in enumerate(scenario.sites):
            for j, h in enumerate(s.halls):
                if (s.id, h.id) == (site, hall):
                    given = getattr(h, field, None) is not None
                    return ("sites", i, "halls", j, field if given else "id")
        return None

    return find


def _job(ids: tuple[Any, ...], scenario: Scenario) -> Path | None:
    job = next(j for j in scenario.workloads.jobs if j.id == ids[0])
    key = next((k for k in ("deadline_days", "deadline") if getattr(job, k) is not None), "id")
    return (*job_path(job.id, scenario), key)


def _demand(ids: tuple[Any, ...], scenario: Scenario) -> Path | None:
    return demand_path(workload_of(ids[0]), scenario)


def _supply(ids: tuple[Any, ...], scenario: Scenario) -> Path | None:
    systems = [s.system for s in scenario.supply]
    if ids[0] not in systems:  # a pod whose slices are ordered
        return ("supply",)
    return ("supply", systems.index(ids[0]), "racks_per_quarter")


def _part(ids: tuple[Any, ...], scenario: Scenario) -> Path | None:
    return ("parts_per_quarter", str(ids[0]))


def _vendor(ids: tuple[Any, ...], scenario: Scenario) -> Path | None:
    return ("vendor_share_max", str(ids[0]))


Q = Span.QUARTER
HALL, SITE_POWER = "size of a hall", "site power"
NODE = 8.0
"""Accelerators of one rented instance."""
DEMAND_LESS = Edit("demand", "demand of {0}", 0.01, less=True)
MORE_RACKS = Edit(HALL, "{field} of hall {0}", 1.0)
MORE_IT_MW = Edit(HALL, "{field} of hall {0}", 0.1, "MW")
MORE_AIR_MW = Edit(HALL, "{field} of hall {0}", 0.1, "MW", fallback="it_mw")
MORE_BUDGET = Edit(
    *("budget", "budget", USD_PER_MUSD, "M USD", USD_PER_MUSD, USD_PER_MUSD, Spread.SUMS)
)
POWER_BLOCKS = LimitSpec("power_blocks", span=Q, checks={CheckId.POWER_BLOCKS: ""})
DEMAND_MET = LimitSpec(
    *("demand_met", "demand {0} in {t}", "less", Q, _demand, 10.0, -1.0), edit=DEMAND_LESS
)
WITHOUT_SITE = LimitSpec(
    *("without_site", "demand {0} without site {1} in {t}", "less", Q, _demand, 10.0),
    edit=DEMAND_LESS,
)
HALL_RACKS = LimitSpec(
    *("hall_racks", "rack positions of {0} in {t}", "racks more", Q, _hall("racks"), 3.0, 1.0),
    {CheckId.RACK_POSITIONS: ""},
    edit=MORE_RACKS,
)
HALL_IT_MW = LimitSpec(
    *("hall_it_mw", "it_mw of {0} in {t}", "MW more", Q, _hall("it_mw"), 40.0, 1.0),
    {CheckId.HALL_IT_MW: ""},
    edit=MORE_IT_MW,
)
DECLARED = (
    LimitSpec(
        *("utility_mw", "utility_mw of {0} in {t}", "MW more", Q, _site("utility_mw"), 40.0, 1.0),
        {CheckId.UTILITY_MW: ""},
        edit=Edit(SITE_POWER, "utility_mw of {0}", 0.1, "MW", spread=Spread.LASTS),
    ),
    HALL_IT_MW,
    LimitSpec(
        *("hall_energized_mw", "energized_mw of {0} in {t}", "MW more", Q, _hall("energized_mw")),
        *(40.0, 1.0),
        {CheckId.HALL_ENERGIZED_MW: ""},
        edit=Edit(SITE_POWER, "energized_mw of {0}", 0.1, "MW", spread=Spread.LASTS),
    ),
    LimitSpec(
        *("cooling_it_mw", "it_mw of {0} under {1} in {t}", "MW more", Q, _hall("it_mw")),
        *(40.0, 1.0),
        edit=MORE_IT_MW,
    ),
    LimitSpec(
        *("hall_air_mw", "air_mw of {0} in {t}", "MW more", Q, _hall("air_mw"), 20.0, 1.0),
        {CheckId.AIR_HEAT_MW: ""},
        edit=MORE_AIR_MW,
    ),
    LimitSpec(
        *("cooling_air_mw", "air_mw of {0} under {1} in {t}", "MW more", Q, _hall("air_mw")),
        *(20.0, 1.0),
        edit=MORE_AIR_MW,
    ),
    LimitSpec(
        *("cooling_liquid_mw", "liquid_mw of {0} under {1} in {t}", "MW more", Q),
        *(_hall("liquid_mw"), 20.0, 1.0),
        edit=Edit(HALL, "{field} of hall {0}", 0.1, "MW", fallback="it_mw"),
    ),
    HALL_RACKS,
    LimitSpec(
        *("cooling_racks", "rack positions of {0} under {1} in {t}", "racks more", Q),
        *(_hall("racks"), 3.0, 1.0),
        edit=MORE_RACKS,
    ),
    LimitSpec(
        *("rack_bound", "racks of {2} in {0} in {t}", "more than its limits allow", Q),
        *(_hall("racks"), 3.0),
        edit=replace(MORE_RACKS, per_row=0.0),  # it follows from the other limits of the hall
    ),
    LimitSpec(
        *("hall_units", "number of halls {0} in {t}", "hall more", Q, _hall("count"), 200.0, 1.0),
        edit=Edit("number of halls", "number of halls {0}", 1.0),
    ),
    LimitSpec(
        *("sites_max", "number of sites", "site more"),
        path=_fixed("sites_max"),
        penalty_musd=200.0,
        step=1.0,
        checks={CheckId.SITES_USED: ""},
        placed=False,
        edit=Edit("number of sites", "number of sites", 1.0),
    ),
    LimitSpec(
        *("sites_min", "fewest sites", "site less"),
        path=_fixed("sites_min"),
        step=-1.0,
        checks={CheckId.SITES_LEAST: ""},
        placed=False,
    ),
    LimitSpec(
        *("supply", "supply of {0} ordered in {t}", "racks more", Q, _supply, 5.0, 1.0),
        edit=Edit("supply", "racks of {0} from the vendor", 1.0),
    ),
    LimitSpec(
        *("parts_supply", "{0} bought in {t}", "more", Q, _part, 0.05, 10.0),
        {check: str(part) for part, check in BOUGHT.items()},
        edit=Edit("parts", "{0} delivered", 10.0),
    ),
    LimitSpec(
        "vendor_share",
        "share of {0} in spending on racks",
        "M USD more",
        path=_vendor,
        penalty_musd=1.0,
        edit=Edit("vendor share", "largest share of {0}", 0.05, per_row=0.0),
    ),
    LimitSpec("disposed_once", "racks of {0} that may be sold or cancelled", "more"),
    LimitSpec(
        *("budget", "budget up to {t}", "M USD more", Q, _fixed("finance", "budget_usd"), 1.0, 1.0),
        {CheckId.BUDGET_SO_FAR_USD: ""},
        USD_PER_MUSD,
        placed=False,
        edit=MORE_BUDGET,
    ),
    LimitSpec(
        *("budget_total", "budget over the horizon", "M USD more", Span.WHOLE),
        *(_fixed("finance", "budget_usd"), 1.0, 1.0),
        {CheckId.BUDGET_USD: ""},
        USD_PER_MUSD,
        placed=False,
        edit=MORE_BUDGET,
    ),
    DEMAND_MET,
    WITHOUT_SITE,
    LimitSpec("job_runs_once", "removal of job {0}", "job", path=_job, penalty_musd=5000.0),
    LimitSpec(
        *("carbon_cap", "carbon cap of {0}", "t more", Span.YEAR),
        *(_site("carbon", "max_operational_t_per_year"), 0.01, 100.0),
        {CheckId.CARBON_T: ""},
        edit=Edit("carbon cap", "carbon cap of {0}", 10.0, "t/year"),
    ),
    LimitSpec(
        *("matched_annual", "carbon-free energy of {0} in a year", "MWh less", Span.YEAR),
        *(_site("matched_share_min", "annual"), 0.01, -100.0),
        {CheckId.MATCHED_ANNUAL_MWH: ""},
    ),
    LimitSpec(
        *("matched_hourly", "carbon-free energy of {0} by hour", "MWh less", Span.YEAR),
        *(_site("matched_share_min", "hourly"), 0.01, -100.0),
        {CheckId.MATCHED_HOURLY_MWH: ""},
    ),
    LimitSpec(
        *("water_cap", "water cap of {0}", "m3 more", Span.YEAR),
        *(_site("water", "max_l_per_year"), 0.001, 100.0),
        {CheckId.WATER_L: ""},
        L_PER_M3,
        edit=Edit("water cap", "water cap of {0}", 100.0 * L_PER_M3, "m3/year", L_PER_M3, L_PER_M3),
    ),
    LimitSpec(
        *("water_right", "water right of {0} in {t}", "m3 more", Q),
        *(_site("water", "max_m3_per_quarter"), 0.001, 100.0),
        {CheckId.WATER_RIGHT_M3: ""},
        edit=Edit("water cap", "water right of {0}", 100.0, "m3"),
    ),
    LimitSpec(
        *("offer_limit", "accelerators of offer {0}", "more", Span.MONTH),
        *(_fixed("cloud", "max_accelerators_per_offer"), 0.1, 64.0),
        edit=Edit(
            *("rent of one offer", "accelerators of one cloud offer", NODE),
            default=("finance", "cloud-capacity-per-offer-accelerators"),
        ),
    ),
    LimitSpec(
        *("cloud_limit", "cloud.max_accelerators", "more", Span.MONTH),
        *(_fixed("cloud", "max_accelerators"), 0.1, 64.0),
        edit=Edit("rent", "cloud.max_accelerators", NODE),
    ),
    LimitSpec(
        "accelerators_for_jobs",
        "accelerators of {1} in {0}",
        "more",
        path=_hall("racks"),
        penalty_musd=1.0,
    ),
    LimitSpec(
        "serving_ahead",
        "accelerators of {2} in {1} a quarter before {0} starts",
        "more",
        path=_job,
        penalty_musd=1.0,
    ),
    POWER_BLOCKS,
    LimitSpec(
        "firm_power",
        "firm power of {0} for runs and services that do not pause",
        "MW more",
        Span.MONTH,
        _site("utility_mw"),
        40.0,
        edit=Edit(SITE_POWER, "utility_mw of {0}", 0.1, "MW", spread=Spread.LASTS),
    ),
    LimitSpec("paused_work", span=Q, checks={CheckId.PAUSED_MW: ""}),
    LimitSpec("enrolled_load", span=Q, checks={CheckId.ENROLLED_MW: ""}),
    LimitSpec("battery_refill", span=Q, checks={CheckId.SHAVED_MW: ""}),
    LimitSpec("grid_energy", span=Q, checks={CheckId.GRID_MWH: ""}),
)
LIMITS: dict[str, LimitSpec] = {spec.row: spec for spec in DECLARED}
"""Every limit by its row in the model."""
CHECKED: dict[CheckId, LimitSpec] = {
    check: spec for spec in DECLARED for check in spec.checks or {}
}
"""Checks that integer switch and rack counts may violate, with the limit to reduce in that case."""
PENALTIES: dict[str, float] = {
    spec.row: spec.penalty_musd for spec in DECLARED if spec.penalty_musd is not None
}
"""M$ per unit of the limits that a remedy may change."""


def edit_of(row: Key, scenario: Scenario) -> tuple[Edit, Path] | None:
    """Return how a scenario gives more of the limit of a row, and the field that changes.

    It is None for a limit that no field gives.
    """
    spec = LIMITS.get(row.name)
    if spec is None or spec.edit is None or spec.path is None:
        return None
    path = spec.path(row.ids, scenario)
    if path is None:
        return None
    if path[-1] == "id" and spec.edit.fallback:
        path = (*path[:-1], spec.edit.fallback)
    return spec.edit, path


def is_users(row: Key) -> bool:
    """Return whether a user sets the limit of a row."""
    return row.name in LIMITS and bool(LIMITS[row.name].words)


def family_of(row: Key) -> Key:
    """Return the key of a limit without its quarter or month.

    Examples
    --------
    >>> str(family_of(Key("utility_mw", ("ashburn", 2)))), str(family_of(Key("budget", (3,))))
    ('utility_mw[ashburn]', 'budget')
    >>> str(family_of(Key("job_runs_once", ("base",))))
    'job_runs_once[base]'
    """
    spec = LIMITS.get(row.name)
    if spec is not None and spec.span in (Span.QUARTER, Span.MONTH):
        return Key(row.name, row.ids[:-1])
    return row


def is_monthly(row: Key) -> bool:
    """Return whether the rows of a limit are by month, not by quarter."""
    return LIMITS[row.name].span is Span.MONTH


def words_of(row: Key, start: str) -> tuple[str, str]:
    """Return the text of a limit, and the unit of a relaxation."""
    spec = LIMITS[row.name]
    quarter = ""
    if spec.span is Span.QUARTER and row.ids and isinstance(row.ids[-1], int):
        quarter = quarter_name(quarter_index(start) + row.ids[-1])
    return spec.words.format(*row.ids, *[""] * 4, t=quarter), spec.more


def in_its_unit(row: Key, problem: PlanningProblem, amount: float) -> tuple[float, str]:
    """Return an amount of a row in the unit of the scenario, and the unit of a relaxation."""
    unit = words_of(row, problem.start)[1]
    if row.name != DEMAND_MET.row:
        return amount, unit
    field, size = next(d.scenario_unit for d in problem.demands if d.id == row.ids[0])
    return amount * size, f"{field} {unit}"


def place_of(row: Key, question: Question) -> str:
    """Return ``file:line:col`` of a limit in the scenario.

    For a default it is the place of the nearest value above it.
    """
    path = LIMITS[row.name].path
    found = path(row.ids, question.scenario) if path else None
    return str(question.tree.place(found)) if found is not None else ""

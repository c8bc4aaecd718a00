"""Limits of a plan, each declared once.

A declaration holds the row in the model, the checks in the audit, the unit, the step, the penalty,
the place in the scenario, the change that gives more of it, and the text for users.
"""

from __future__ import annotations

from dataclasses import replace

from dcplan.planning.check_ids import BOUGHT, CheckId
from dcplan.planning.edits import Edit, Spread
from dcplan.planning.limit_spec import (
    LimitSpec,
    Span,
    at_path,
    in_hall,
    in_permit,
    in_site,
    of_demand,
    of_job,
    of_part,
    of_supply,
    of_vendor,
)
from dcplan.units import L_PER_M3, USD_PER_MUSD

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
    *("demand_met", "demand {0} in {t}", "less", Q, of_demand, 10.0, -1.0), edit=DEMAND_LESS
)
WITHOUT_SITE = LimitSpec(
    *("without_site", "demand {0} without site {1} in {t}", "less", Q, of_demand, 10.0),
    edit=DEMAND_LESS,
)
HALL_RACKS = LimitSpec(
    *("hall_racks", "rack positions of {0} in {t}", "racks more", Q, in_hall("racks"), 3.0, 1.0),
    {CheckId.RACK_POSITIONS: ""},
    edit=MORE_RACKS,
)
HALL_IT_MW = LimitSpec(
    *("hall_it_mw", "it_mw of {0} in {t}", "MW more", Q, in_hall("it_mw"), 40.0, 1.0),
    {CheckId.HALL_IT_MW: ""},
    edit=MORE_IT_MW,
)
DECLARED = (
    LimitSpec(
        *("utility_mw", "utility_mw of {0} in {t}", "MW more", Q, in_site("utility_mw"), 40.0, 1.0),
        {CheckId.UTILITY_MW: ""},
        edit=Edit(SITE_POWER, "utility_mw of {0}", 0.1, "MW", spread=Spread.LASTS),
    ),
    HALL_IT_MW,
    LimitSpec(
        *("hall_energized_mw", "energized_mw of {0} in {t}", "MW more", Q, in_hall("energized_mw")),
        *(40.0, 1.0),
        {CheckId.HALL_ENERGIZED_MW: ""},
        edit=Edit(SITE_POWER, "energized_mw of {0}", 0.1, "MW", spread=Spread.LASTS),
    ),
    LimitSpec(
        *("cooling_it_mw", "it_mw of {0} under {1} in {t}", "MW more", Q, in_hall("it_mw")),
        *(40.0, 1.0),
        edit=MORE_IT_MW,
    ),
    LimitSpec(
        *("hall_air_mw", "air_mw of {0} in {t}", "MW more", Q, in_hall("air_mw"), 20.0, 1.0),
        {CheckId.AIR_HEAT_MW: ""},
        edit=MORE_AIR_MW,
    ),
    LimitSpec(
        *("cooling_air_mw", "air_mw of {0} under {1} in {t}", "MW more", Q, in_hall("air_mw")),
        *(20.0, 1.0),
        edit=MORE_AIR_MW,
    ),
    LimitSpec(
        *("cooling_liquid_mw", "liquid_mw of {0} under {1} in {t}", "MW more", Q),
        *(in_hall("liquid_mw"), 20.0, 1.0),
        edit=Edit(HALL, "{field} of hall {0}", 0.1, "MW", fallback="it_mw"),
    ),
    HALL_RACKS,
    LimitSpec(
        *("cooling_racks", "rack positions of {0} under {1} in {t}", "racks more", Q),
        *(in_hall("racks"), 3.0, 1.0),
        edit=MORE_RACKS,
    ),
    LimitSpec(
        *("rack_bound", "racks of {2} in {0} in {t}", "more than its limits allow", Q),
        *(in_hall("racks"), 3.0),
        edit=replace(MORE_RACKS, per_row=0.0),  # it follows from the other limits of the hall
    ),
    LimitSpec(
        *("hall_units", "number of halls {0} in {t}", "hall more", Q, in_hall("count"), 200.0, 1.0),
        edit=Edit("number of halls", "number of halls {0}", 1.0),
    ),
    LimitSpec(
        *("sites_max", "number of sites", "site more"),
        path=at_path("sites_max"),
        penalty_musd=200.0,
        step=1.0,
        checks={CheckId.SITES_USED: ""},
        placed=False,
        edit=Edit("number of sites", "number of sites", 1.0),
    ),
    LimitSpec(
        *("sites_min", "fewest sites", "site less"),
        path=at_path("sites_min"),
        step=-1.0,
        checks={CheckId.SITES_LEAST: ""},
        placed=False,
    ),
    LimitSpec(
        *("supply", "supply of {0} ordered in {t}", "racks more", Q, of_supply, 5.0, 1.0),
        edit=Edit("supply", "racks of {0} from the vendor", 1.0),
    ),
    LimitSpec(
        *("parts_supply", "{0} bought in {t}", "more", Q, of_part, 0.05, 10.0),
        {check: str(part) for part, check in BOUGHT.items()},
        edit=Edit("parts", "{0} delivered", 10.0),
    ),
    LimitSpec(
        "vendor_share",
        "share of {0} in spending on racks",
        "M USD more",
        path=of_vendor,
        penalty_musd=1.0,
        edit=Edit("vendor share", "largest share of {0}", 0.05, per_row=0.0, most=1.0),
    ),
    LimitSpec("disposed_once", "racks of {0} that may be sold or cancelled", "more"),
    LimitSpec(
        *(
            "budget",
            "budget up to {t}",
            "M USD more",
            Q,
            at_path("finance", "budget_usd"),
            1.0,
            1.0,
        ),
        {CheckId.BUDGET_SO_FAR_USD: ""},
        USD_PER_MUSD,
        placed=False,
        edit=MORE_BUDGET,
    ),
    LimitSpec(
        *("budget_total", "budget over the horizon", "M USD more", Span.WHOLE),
        *(at_path("finance", "budget_usd"), 1.0, 1.0),
        {CheckId.BUDGET_USD: ""},
        USD_PER_MUSD,
        placed=False,
        edit=MORE_BUDGET,
    ),
    DEMAND_MET,
    WITHOUT_SITE,
    LimitSpec("job_runs_once", "job {0} must run", "job", path=of_job, penalty_musd=5000.0),
    LimitSpec(
        *("carbon_cap", "carbon cap of {0}", "t more", Span.YEAR),
        *(in_site("carbon", "max_operational_t_per_year"), 0.01, 100.0),
        {CheckId.CARBON_T: ""},
        edit=Edit("carbon cap", "carbon cap of {0}", 10.0, "t/year"),
    ),
    LimitSpec(
        *("onsite_permit", "permit hours of {0} in the calendar year of {t}", "MWh more", Q),
        *(in_permit, 0.01, 100.0),
        {CheckId.PERMIT_MWH: ""},
    ),
    LimitSpec(
        *("matched_annual", "carbon-free energy of {0} in a year", "MWh less", Span.YEAR),
        *(in_site("matched_share_min", "annual"), 0.01, -100.0),
        {CheckId.MATCHED_ANNUAL_MWH: ""},
    ),
    LimitSpec(
        *("matched_hourly", "carbon-free energy of {0} by hour", "MWh less", Span.YEAR),
        *(in_site("matched_share_min", "hourly"), 0.01, -100.0),
        {CheckId.MATCHED_HOURLY_MWH: ""},
    ),
    LimitSpec(
        *("water_cap", "water cap of {0}", "m3 more", Span.YEAR),
        *(in_site("water", "max_l_per_year"), 0.001, 100.0),
        {CheckId.WATER_L: ""},
        L_PER_M3,
        edit=Edit("water cap", "water cap of {0}", 100.0 * L_PER_M3, "m3/year", L_PER_M3, L_PER_M3),
    ),
    LimitSpec(
        *("water_right", "water right of {0} in {t}", "m3 more", Q),
        *(in_site("water", "max_m3_per_quarter"), 0.001, 100.0),
        {CheckId.WATER_RIGHT_M3: ""},
        edit=Edit("water cap", "water right of {0}", 100.0, "m3"),
    ),
    LimitSpec(
        *("offer_limit", "accelerators of offer {0}", "more", Span.MONTH),
        *(at_path("cloud", "max_accelerators_per_offer"), 0.1, 64.0),
        edit=Edit(
            *("rent of one offer", "accelerators of one cloud offer", NODE),
            default=("finance", "cloud-capacity-per-offer-accelerators"),
        ),
    ),
    LimitSpec(
        *("cloud_limit", "cloud.max_accelerators", "more", Span.MONTH),
        *(at_path("cloud", "max_accelerators"), 0.1, 64.0),
        edit=Edit("rent", "cloud.max_accelerators", NODE),
    ),
    LimitSpec(
        "accelerators_for_jobs",
        "accelerators of {1} in {0}",
        "more",
        path=in_hall("racks"),
        penalty_musd=1.0,
    ),
    LimitSpec(
        "serving_ahead",
        "accelerators of {2} in {1} a quarter before {0} starts",
        "more",
        path=of_job,
        penalty_musd=1.0,
    ),
    POWER_BLOCKS,
    LimitSpec(
        "firm_power",
        "firm power of {0} for runs and services that do not pause",
        "MW more",
        Span.MONTH,
        in_site("utility_mw"),
        40.0,
        checks={CheckId.FIRM_MW: ""},
        edit=Edit(SITE_POWER, "utility_mw of {0}", 0.1, "MW", spread=Spread.LASTS),
    ),
    LimitSpec(
        "ramp_storage",
        "battery for ramp_limit_mw_per_min of {0} for {1} in {t}",
        "MW more",
        Q,
        in_site("ramp_limit_mw_per_min"),
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

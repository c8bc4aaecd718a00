"""Metrics and tables of the ``tco`` verb."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import GapFrac, InputKey, Now, Offer, Term
from dcplan.specs.metric import Better, MetricSpec
from dcplan.specs.table import Column, Shown, TableSpec, pattern

OWNED_NPV = MetricSpec(
    "owned.npv_usd", "USD", "Present cost of owning, after tax and debt", better=Better.LOWER
)
OWNED_HOUR = MetricSpec(
    "owned.usd_per_accelerator_hour",
    "USD/h",
    "Over used hours, both discounted",
    better=Better.LOWER,
)
RENTED_NPV = MetricSpec(
    "rented.<offer>.<term>.npv_usd",
    "USD",
    "Present cost of renting, after tax",
    better=Better.LOWER,
)
RENTED_HOUR = MetricSpec(
    "rented.<offer>.<term>.usd_per_accelerator_hour",
    "USD/h",
    "Over used hours, both discounted",
    better=Better.LOWER,
)
BREAK_EVEN_MONTHS = MetricSpec(
    "break_even.<offer>.<term>.months",
    "months",
    "Owning has cost no more from then on, were all sold at its residual; none: never",
)
BREAK_EVEN_UTILIZATION = MetricSpec(
    "break_even.<offer>.<term>.utilization_frac", "", "Above it owning is cheaper; none: never"
)
REFERENCE_MFU = MetricSpec(
    "reference.mfu_frac",
    "",
    "Of the reference job, without the slowdown of production runs",
    better=Better.HIGHER,
)
OWNED_PFLOP_DAY = MetricSpec(
    "owned.usd_per_pflop_day", "USD", "Delivered on the reference job", better=Better.LOWER
)
OWNED_TOKENS = MetricSpec(
    "owned.usd_per_million_tokens",
    "USD",
    "Trained tokens of the reference job",
    better=Better.LOWER,
)
OWNED_IRR = MetricSpec(
    "owned.irr_frac",
    "",
    "Yearly return of owning instead of the cheapest rent, after tax and debt; "
    "none: no single rate",
    better=Better.HIGHER,
)
OWNED_PAYBACK = MetricSpec(
    "owned.payback_months",
    "months",
    "Undiscounted, end worth left out, of owning instead of the cheapest rent, after tax and debt; "
    "none: never",
    better=Better.LOWER,
)
HYBRID_NPV = MetricSpec(
    "hybrid.npv_usd", "USD", "Present cost after tax and debt", better=Better.LOWER
)
ALL_RENTED_NPV = MetricSpec(
    "rented.npv_usd", "USD", "Present cost after tax and debt", better=Better.LOWER
)

OwnedOrRent = Annotated[str, Column("Owned, or a rent as offer and term")]


@dataclass(frozen=True)
class SourcingRow:
    """One way to do the work; empty but for the note where it cannot be done."""

    option: Annotated[
        str, Column("All owned, all rented, one offer and term alone, or the best mix (hybrid)")
    ]
    npv_usd: Annotated[
        float | None, Column("Present value of the cost of the plan, after tax and debt")
    ] = None
    above_hybrid_usd: Annotated[float | None, Column("The same less that of the best mix")] = None
    owned_accelerators: Annotated[
        int | None, Column("Accelerators ordered, given or kept over the horizon")
    ] = None
    rented_hours: Annotated[float | None, Column("Accelerator-hours rented over the horizon")] = (
        None
    )
    gap_frac: GapFrac = None
    note: Annotated[str, Column("Why there is no plan")] = ""


@dataclass(frozen=True)
class RentedRow:
    """The same work on one offer and term."""

    offer: Offer
    term: Term
    npv_usd: Annotated[
        float, Column("Present value of the cost of renting the same work, after tax")
    ]
    over_owned_usd: Annotated[float, Column("The same less the present cost of owning")]
    usd_per_used_hour: Annotated[
        float, Column("Present cost over discounted used accelerator-hours")
    ]
    break_even_months: Annotated[
        float | str,
        Column(
            "Months from which on owning has cost no more, hardware at its residual value; or never"
        ),
    ]
    break_even_utilization_frac: Annotated[
        float | str,
        Column("Share of hours used above which owning is cheaper; or never, or paid used or not"),
    ]
    price: Annotated[
        str, Column("Whether the hourly price is the user's input, the catalog's or an estimate")
    ]
    note: Annotated[str, Column("What is to be known about this rent")]


@dataclass(frozen=True)
class SideRow:
    """One line of the owned side."""

    line: Annotated[
        str, Column("What is paid for on either side; residual lines are worth at the end")
    ]
    owned_npv_usd: Annotated[
        float | None,
        Column("Present value of the line on the owned side, after tax and before debt"),
    ] = None


@dataclass(frozen=True)
class TornadoRow:
    """One input at its bounds."""

    input: InputKey
    low: Annotated[float, Column("Low bound of the input")]
    now: Now
    high: Annotated[float, Column("High bound of the input")]
    owned_at_low_usd: Annotated[
        float, Column("Present cost of owning with the input at its low bound")
    ]
    owned_at_high_usd: Annotated[
        float, Column("Present cost of owning with the input at its high bound")
    ]
    over_rent_at_low_usd: Annotated[
        float, Column("Owned cost less that of the cheapest rent, the input at its low bound")
    ]
    over_rent_at_high_usd: Annotated[
        float, Column("Owned cost less that of the cheapest rent, the input at its high bound")
    ]
    swing_usd: Annotated[float, Column("Difference of the two, without sign")]
    switches_at: Annotated[
        float | str,
        Column("Value nearest to now at which both sides cost the same; or none within its bounds"),
    ]


@dataclass(frozen=True)
class RiskRow:
    """One side in sampled futures."""

    side: OwnedOrRent
    mean_usd: Annotated[float, Column("Mean present cost over the sampled futures")]
    p5_usd: Annotated[
        float, Column("Present cost that the futures stay below with 5 % probability")
    ]
    p10_usd: Annotated[
        float, Column("Present cost that the futures stay below with 10 % probability")
    ]
    p50_usd: Annotated[float, Column("Median present cost of the futures")]
    p90_usd: Annotated[
        float, Column("Present cost that the futures stay below with 90 % probability")
    ]
    p95_usd: Annotated[
        float, Column("Present cost that the futures stay below with 95 % probability")
    ]
    cheapest_frac: Annotated[
        float, Column("Share of futures in which this side is the cheapest of all")
    ]


@dataclass(frozen=True)
class BridgeRow:
    """One step from the plan's cost to the owned one."""

    step: Annotated[
        str, Column("Cost to begin with, each step on the way, and the owned cost at the end")
    ]
    usd: Annotated[
        float, Column("Present value of the cost at both ends; in between what the step adds")
    ]


@dataclass(frozen=True)
class YearRow:
    """One year of the horizon; each side's cash comes with the data."""

    year: Annotated[
        str, Column("Year of the horizon, before or after it, worth at the end, or all")
    ]


@dataclass(frozen=True)
class UnitRow:
    """What units of work cost on one side; empty where the side costs nothing."""

    side: OwnedOrRent
    usd_per_owned_hour: Annotated[
        float | None,
        Column("Present cost over discounted accelerator-hours of the clock, used or not"),
    ] = None
    usd_per_used_hour: Annotated[
        float | None, Column("Present cost over discounted accelerator-hours in use")
    ] = None
    usd_per_pflop_day: Annotated[
        float | None,
        Column("Present cost over model PFLOP-days delivered on the reference job, discounted"),
    ] = None
    usd_per_million_tokens: Annotated[
        float | None,
        Column("Present cost over a million tokens trained on the reference job, discounted"),
    ] = None


@dataclass(frozen=True)
class TermStructureRow:
    """The quotes of two committed terms of one offer."""

    offer: Offer
    short_years: Annotated[float, Column("Length of the shortest committed term")]
    short_usd_per_h: Annotated[float, Column("Price of an accelerator-hour on it")]
    long_years: Annotated[float, Column("Length of the longest committed term")]
    long_usd_per_h: Annotated[float, Column("Price of an accelerator-hour on it")]
    implied_change_frac_per_year: Annotated[
        float | None,
        Column("Yearly change of price at which both terms cost the same; negative is a fall"),
    ]


@dataclass(frozen=True)
class LineRow:
    """One line of one side."""

    side: Annotated[str, Column("Owned, a rent as offer and term, or a way to do the work")]
    line: Annotated[str, Column("What is paid for; residual lines are worth at the end")]
    usd: Annotated[
        float,
        Column(
            "Sum over the horizon, undiscounted, after tax and before debt; negative is value kept"
        ),
    ]
    npv_usd: Annotated[float, Column("Present value of the line, after tax and before debt")]


WAYS = TableSpec("sourcing", SourcingRow, "The same work owned, rented, or both")
RENTED = TableSpec("rented", RentedRow, "The same work rented")
SIDES = TableSpec(
    "npv_by_line",
    SideRow,
    "Present value line by line: owned before its debt, and the cheapest rent",
    wide=(pattern("<rent>_npv_usd", "Present value of the line on the cheapest rent, after tax"),),
)
TORNADO = TableSpec(
    "tornado",
    TornadoRow,
    "What decides: inputs at their bounds, by the swing of owned over the cheapest rent",
)
RISK = TableSpec("risk", RiskRow, "Both sides in sampled futures")
BRIDGE = TableSpec("bridge", BridgeRow, "From the plan's cost to the owned one")
YEARS = TableSpec(
    "years",
    YearRow,
    "Cash out by year",
    wide=(
        pattern(
            "<side>_usd",
            "Cash out of that side in the year, after tax and debt, undiscounted; "
            "negative is money in",
        ),
    ),
)
UNITS = TableSpec(
    "unit_costs", UnitRow, "What a unit of work costs, in present value over discounted hours"
)
TERM_STRUCTURE = TableSpec(
    "term_structure", TermStructureRow, "What quotes of two terms imply for prices to come"
)
LINES = TableSpec("lines", LineRow, "Every line of every side", shown=Shown.DATA)

"""Metrics and tables of the ``tco`` verb."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import GapFrac, InputKey, Now, Offer, Term
from dcplan.specs.metric import Better, MetricSpec
from dcplan.specs.table import Column, Section, Shown, TableSpec, pattern

OWNED_NPV = MetricSpec(
    "owned.npv_usd",
    "USD",
    "Present cost of owning, after tax and debt",
    better=Better.LOWER,
    main=True,
)
OWNED_HOUR = MetricSpec(
    "owned.usd_per_accelerator_hour",
    "USD/h",
    "Levelized cost of owning per used accelerator-hour: present cost over discounted used hours",
    better=Better.LOWER,
    main=True,
    label="Levelized cost of owning per used accelerator-hour",
)
RENTED_NPV = MetricSpec(
    "rented.<offer>.<term>.npv_usd",
    "USD",
    "Present cost of renting, after tax (a rent has no debt)",
    better=Better.LOWER,
)
RENTED_HOUR = MetricSpec(
    "rented.<offer>.<term>.usd_per_accelerator_hour",
    "USD/h",
    "Levelized cost of renting per used accelerator-hour: present cost over discounted used hours",
    better=Better.LOWER,
)
BREAK_EVEN_MONTHS = MetricSpec(
    "break_even.<offer>.<term>.months",
    "months",
    "Break-even with resale: month from which owning costs no more, discounted, with the hardware "
    "sold at residual value; none: never",
)
BREAK_EVEN_UTILIZATION = MetricSpec(
    "break_even.<offer>.<term>.utilization_frac",
    "",
    "Utilization above which owning costs less; none: never",
)
REFERENCE_MFU = MetricSpec(
    "reference.mfu_frac",
    "",
    "MFU of the reference job, without the slowdown of production runs",
    better=Better.HIGHER,
)
OWNED_PFLOP_DAY = MetricSpec(
    "owned.usd_per_pflop_day",
    "USD",
    "Cost per PFLOP-day delivered on the reference job",
    better=Better.LOWER,
)
OWNED_TOKENS = MetricSpec(
    "owned.usd_per_million_tokens",
    "USD",
    "Cost per million tokens trained on the reference job",
    better=Better.LOWER,
    main=True,
)
OWNED_IRR = MetricSpec(
    "owned.irr_frac",
    "",
    "Internal rate of return of owning over the cheapest rent, after tax and debt; none: no "
    "single rate",
    better=Better.HIGHER,
    main=True,
    label="Internal rate of return over the cheapest rent",
)
OWNED_PAYBACK = MetricSpec(
    "owned.payback_months",
    "months",
    "Payback of owning over the cheapest rent, undiscounted, without resale of the hardware, after "
    "tax and debt; none: never",
    better=Better.LOWER,
    main=True,
    label="Payback over the cheapest rent, undiscounted, without resale",
)
HYBRID_NPV = MetricSpec(
    "hybrid.npv_usd",
    "USD",
    "Present cost of the best mix of owning and renting (hybrid), after tax and debt",
    better=Better.LOWER,
    main=True,
)
ALL_RENTED_NPV = MetricSpec(
    "rented.npv_usd",
    "USD",
    "Present cost of renting everything, after tax",
    better=Better.LOWER,
    main=True,
)

OwnedOrRent = Annotated[str, Column("Owned, or the offer and term of a rent")]


@dataclass(frozen=True)
class SourcingRow:
    """One sourcing option for the work; empty except for the note if it is not possible."""

    option: Annotated[
        str,
        Column(
            "Sourcing option: all owned, all rented, one offer and term, or the best mix (hybrid)"
        ),
    ]
    npv_usd: Annotated[float | None, Column("Present cost of the plan, after tax and debt")] = None
    above_hybrid_usd: Annotated[float | None, Column("Present cost above that of the best mix")] = (
        None
    )
    owned_accelerators: Annotated[
        int | None, Column("Accelerators ordered, fixed or existing over the horizon")
    ] = None
    rented_hours: Annotated[float | None, Column("Accelerator-hours rented over the horizon")] = (
        None
    )
    gap_frac: GapFrac = None
    note: Annotated[str, Column("Reason if there is no plan")] = ""


@dataclass(frozen=True)
class RentedRow:
    """The same work on one offer and term."""

    offer: Offer
    term: Term
    npv_usd: Annotated[
        float, Column("Present cost of renting for the same work, after tax; a rent has no debt")
    ]
    over_owned_usd: Annotated[
        float, Column("Present cost above that of owning", shown=Shown.VERBOSE)
    ]
    usd_per_used_hour: Annotated[
        float, Column("Present cost over discounted used accelerator-hours", shown=Shown.VERBOSE)
    ]
    break_even_months: Annotated[
        float | str,
        Column(
            "Month from which owning costs no more, discounted, if the hardware is then sold at "
            "residual value; or never"
        ),
    ]
    break_even_utilization_frac: Annotated[
        float | str,
        Column(
            "Utilization above which owning costs less; or never; n/a if all hours are paid, used "
            "or not"
        ),
    ]
    price: Annotated[
        str,
        Column("Origin of the hourly price: user input, catalog or estimate", shown=Shown.VERBOSE),
    ]
    note: Annotated[str, Column("Remark on this rent")]


@dataclass(frozen=True)
class NpvLineRow:
    """One cost line of the owned side."""

    line: Annotated[
        str, Column("Cost line of both sides; residual lines are value at the end of the horizon")
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
        float, Column("Present cost of owning with the input at its low bound", shown=Shown.VERBOSE)
    ]
    owned_at_high_usd: Annotated[
        float,
        Column("Present cost of owning with the input at its high bound", shown=Shown.VERBOSE),
    ]
    over_rent_at_low_usd: Annotated[
        float,
        Column(
            "Cost of owning minus the cheapest rent, with the input at its low bound; negative if "
            "owning costs less"
        ),
    ]
    over_rent_at_high_usd: Annotated[
        float,
        Column(
            "Cost of owning minus the cheapest rent, with the input at its high bound; negative "
            "if owning costs less"
        ),
    ]
    swing_usd: Annotated[float, Column("Absolute difference of the two")]
    switches_at: Annotated[
        float | str,
        Column(
            "Value nearest to the scenario's value at which both sides cost the same; or none "
            "within the bounds"
        ),
    ]


@dataclass(frozen=True)
class TokenTornadoRow:
    """One input at its bounds, and the cost of tokens of the reference job."""

    input: InputKey
    low: Annotated[float, Column("Low bound of the input")]
    now: Now
    high: Annotated[float, Column("High bound of the input")]
    usd_per_million_tokens_at_low: Annotated[
        float, Column("Present cost of owning per million tokens, with the input at its low bound")
    ]
    usd_per_million_tokens_at_high: Annotated[
        float, Column("Present cost of owning per million tokens, with the input at its high bound")
    ]
    swing_usd_per_million_tokens: Annotated[float, Column("Absolute difference of the two")]


@dataclass(frozen=True)
class RiskRow:
    """One side in the Monte Carlo simulation."""

    side: OwnedOrRent
    mean_usd: Annotated[float, Column("Mean present cost over the sampled scenarios")]
    p5_usd: Annotated[
        float, Column("5th percentile of the present cost over the sampled scenarios")
    ]
    p10_usd: Annotated[
        float, Column("10th percentile of the present cost over the sampled scenarios")
    ]
    p50_usd: Annotated[float, Column("Median present cost over the sampled scenarios")]
    p90_usd: Annotated[
        float, Column("90th percentile of the present cost over the sampled scenarios")
    ]
    p95_usd: Annotated[
        float, Column("95th percentile of the present cost over the sampled scenarios")
    ]
    cheapest_frac: Annotated[
        float, Column("Share of sampled scenarios in which this side costs least")
    ]


@dataclass(frozen=True)
class BridgeRow:
    """One step from the plan's cost to the cost of owning."""

    step: Annotated[str, Column("Cost of the plan first, then each step, then the cost of owning")]
    usd: Annotated[
        float, Column("Present cost in the first and last row; otherwise the change by the step")
    ]


@dataclass(frozen=True)
class YearRow:
    """One year of the horizon; the cash columns depend on the sides compared."""

    year: Annotated[
        str, Column("Year of the horizon, before or after it, residual value, or total")
    ]


@dataclass(frozen=True)
class UnitRow:
    """Unit costs of one side; empty if the side costs nothing."""

    side: OwnedOrRent
    usd_per_owned_hour: Annotated[
        float | None,
        Column("Present cost per discounted accelerator-hour of existence, used or not"),
    ] = None
    usd_per_used_hour: Annotated[
        float | None, Column("Present cost per discounted accelerator-hour used")
    ] = None
    usd_per_pflop_day: Annotated[
        float | None,
        Column("Present cost per discounted model PFLOP-day delivered on the reference job"),
    ] = None
    usd_per_million_tokens: Annotated[
        float | None,
        Column("Present cost per million discounted tokens trained on the reference job"),
    ] = None


@dataclass(frozen=True)
class TermStructureRow:
    """Quotes for two committed terms of one offer."""

    offer: Offer
    short_years: Annotated[float, Column("Length of the shortest committed term")]
    short_usd_per_h: Annotated[float, Column("Price of an accelerator-hour on this term")]
    long_years: Annotated[float, Column("Length of the longest committed term")]
    long_usd_per_h: Annotated[float, Column("Price of an accelerator-hour on this term")]
    implied_change_frac_per_year: Annotated[
        float | None,
        Column("Yearly price change at which both terms cost the same; negative is a fall"),
    ]


@dataclass(frozen=True)
class LineRow:
    """One cost line of one side."""

    side: Annotated[str, Column("Owned, the offer and term of a rent, or a sourcing option")]
    line: Annotated[str, Column("Cost line; residual lines are value at the end of the horizon")]
    usd: Annotated[
        float,
        Column(
            "Sum over the horizon, undiscounted, after tax and before debt; negative is residual "
            "value"
        ),
    ]
    npv_usd: Annotated[float, Column("Present value of the line, after tax and before debt")]


SOURCING = TableSpec(
    "sourcing", SourcingRow, "Sourcing options for the same work", section=Section.ORDERS
)
RENTED = TableSpec(
    "rented",
    RentedRow,
    "Rental options for the same work: present cost after tax, break-even with resale",
    first=8,
    section=Section.COST,
    by_item=True,
)
NPV_BY_LINE = TableSpec(
    "npv_by_line",
    NpvLineRow,
    "Present value by cost line",
    wide=(
        pattern(
            "<rent>_npv_usd",
            "Present value of the line on the cheapest rent, after tax; a rent has no debt",
        ),
    ),
    shown=Shown.VERBOSE,
    section=Section.COST,
    by_item=True,
)
TORNADO = TableSpec(
    "tornado",
    TornadoRow,
    "Cost of owning minus the cheapest rent, with one input at its bounds",
    first=8,
    section=Section.RISK,
    by_item=True,
)
TOKEN_TORNADO = TableSpec(
    "token_tornado",
    TokenTornadoRow,
    "Cost of a million tokens of the reference job on the owned fleet, with one input at its bounds",
    first=5,
    section=Section.RISK,
    by_item=True,
)
RISK = TableSpec(
    "risk", RiskRow, "Monte Carlo simulation of both sides", first=8, section=Section.RISK
)
BRIDGE = TableSpec(
    "bridge",
    BridgeRow,
    "From the plan's cost to the cost of owning",
    shown=Shown.VERBOSE,
    section=Section.COST,
    by_item=True,
)
YEARS = TableSpec(
    "years",
    YearRow,
    "Cash flow by year, undiscounted",
    wide=(
        pattern(
            "<side>_usd",
            "Payments of the side in the year, after tax and debt, undiscounted; negative is "
            "money received",
        ),
    ),
    section=Section.COST,
    by_item=True,
)
UNITS = TableSpec(
    "unit_costs",
    UnitRow,
    "Unit costs: present cost over discounted accelerator-hours",
    first=8,
    section=Section.COST,
    by_item=True,
)
TERM_STRUCTURE = TableSpec(
    "term_structure",
    TermStructureRow,
    "Price trend implied by the quotes for two terms",
    shown=Shown.VERBOSE,
    by_item=True,
)
LINES = TableSpec(
    "lines",
    LineRow,
    "Cost lines of all sides",
    shown=Shown.DATA,
    section=Section.COST,
    by_item=True,
)

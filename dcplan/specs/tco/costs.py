"""Tables of ``tco`` by cost line, year and unit of work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import Offer, OwnedOrRent
from dcplan.specs.table import Column, Section, Shown, TableSpec, pattern


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

"""Tables of ``tco`` that compare sourcing options and rents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.columns import GapFrac, Offer, Term
from dcplan.specs.table import Column, Section, Shown, TableSpec, pattern


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

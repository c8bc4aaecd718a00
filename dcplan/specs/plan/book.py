"""Tables of a plan from which its workbook is computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.table import Column, Shown, TableSpec


@dataclass(frozen=True)
class FactRow:
    """A value that the workbook uses in its formulas."""

    fact: Annotated[
        str,
        Column("Name of a value that the workbook uses, for one rack, hall unit, piece or site"),
    ]
    place: Annotated[
        str | None, Column("Hall, site or cloud offer that it belongs to; empty for the whole plan")
    ]
    cooling: Annotated[
        str | None,
        Column("Cooling option; the NIC class of network pieces, the term of a rented hour"),
    ]
    item: Annotated[str | None, Column("System, or role of a network piece")]
    quarter: Annotated[
        int | None,
        Column(
            "Number of the quarter from the plan's start, the first is 0; empty if the value does "
            "not vary"
        ),
    ]
    value: Annotated[float, Column("Value in the plan, before any edit of the workbook")]
    unit: Annotated[str | None, Column("Unit of the value; empty where it has none")]
    formula: Annotated[
        str | None,
        Column(
            "Formula of the value from inputs in brackets and other facts in braces; empty for a "
            "plain number"
        ),
    ]


@dataclass(frozen=True)
class AmountRow:
    """An amount that the decisions fix in a quarter."""

    what: Annotated[str, Column("Kind of amount, such as racks, units, pieces or rented hours")]
    place: Annotated[
        str | None, Column("Hall, site, cloud offer or kind of asset that it belongs to")
    ]
    cooling: Annotated[
        str | None,
        Column("Cooling option; the NIC class of network pieces, the term of rented hours"),
    ]
    item: Annotated[
        str | None, Column("System, role of a network piece, or cost line of rented hours")
    ]
    quarter: Annotated[int, Column("Number of the quarter from the plan's start, the first is 0")]
    amount: Annotated[float, Column("Amount in the quarter; zero amounts are omitted")]


@dataclass(frozen=True)
class LiveRow:
    """An input that formulas of the workbook use."""

    key: Annotated[str, Column("Key of an input that formulas of the workbook use")]
    set_as: Annotated[
        str | None,
        Column(
            "Name of the input in --set and overrides; empty if an edit could change the decisions"
        ),
    ]
    low: Annotated[float | None, Column("Low bound of the input, its own or the catalog's")] = None
    high: Annotated[float | None, Column("High bound of the input, its own or the catalog's")] = (
        None
    )
    fixed_because: Annotated[
        str | None,
        Column("Reason why an edit needs a new run; empty for an input that can be edited"),
    ] = None


@dataclass(frozen=True)
class ComputedRow:
    """An input that follows from others."""

    key: Annotated[str, Column("Key of an input that follows from other inputs")]
    formula: Annotated[str, Column("Formula of its value from inputs in brackets")]


FACTS = TableSpec("book_facts", FactRow, "Values for the workbook", Shown.DATA)
AMOUNTS = TableSpec("book_amounts", AmountRow, "Amounts for the workbook", Shown.DATA)
LIVE = TableSpec("book_live", LiveRow, "Inputs for the workbook", Shown.DATA)
COMPUTED = TableSpec("book_computed", ComputedRow, "Computed inputs", Shown.DATA)

"""Tables of sourcing options from which the workbook of ``tco`` without a fleet is computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.specs.plan.book import AmountRow, FactRow
from dcplan.specs.plan.money import FlowRow
from dcplan.specs.plan.tco_book import EarlierRow
from dcplan.specs.table import Column, Shown, TableSpec

Option = Annotated[str, Column("Sourcing option: all owned, all rented, or the best mix (hybrid)")]


@dataclass(frozen=True)
class OptionFactRow(FactRow):
    """A value that the workbook uses in the formulas of one option."""

    option: Option = ""


@dataclass(frozen=True)
class OptionAmountRow(AmountRow):
    """An amount that the decisions of one option fix in a quarter."""

    option: Option = ""


@dataclass(frozen=True)
class OptionFlowRow(FlowRow):
    """Payments of one option in one quarter."""

    option: Option = ""


@dataclass(frozen=True)
class OptionEarlierRow(EarlierRow):
    """The book value of earlier hardware of one option in one month."""

    option: Option = ""


@dataclass(frozen=True)
class OptionRow:
    """One option of the workbook."""

    option: Option
    same_as: Annotated[
        str, Column("Option with the same plan, whose sheets count; empty for an own plan")
    ] = ""


OPTIONS = TableSpec("book_options", OptionRow, "Options of the workbook", Shown.DATA)
FACTS = TableSpec("book_option_facts", OptionFactRow, "Values by option", Shown.DATA)
AMOUNTS = TableSpec("book_option_amounts", OptionAmountRow, "Amounts by option", Shown.DATA)
EARLIER = TableSpec(
    "book_option_earlier", OptionEarlierRow, "Earlier hardware by option", Shown.DATA
)
FLOWS = TableSpec("book_option_flows", OptionFlowRow, "Payments by option", Shown.DATA)

"""The sheets of a comparison under construction, with the time axis that they share."""

from __future__ import annotations

from dataclasses import dataclass, field

from dcplan.economics.cash_flow import CAPITAL, AssetClass
from dcplan.report.book.calc import Calc
from dcplan.report.book.data.term import Term
from dcplan.report.book.grid import Row, Sheet
from dcplan.report.book.tco.source import TcoSource
from dcplan.report.book.tco.terms import flag
from dcplan.specs.plan.tco_book import BookTerm

LABELS = ("Line", "Side", "Class", "Rule", "Unit", "Value or total")
OWNED = "owned"
HALVES = 2
"""Columns of a month on the sheet of returns."""


@dataclass
class Book:
    """The sheets under construction, and the rows that later sheets refer to."""

    source: TcoSource
    calc: Calc
    own: Sheet
    rent: Sheet
    depreciation: Sheet
    loan: Sheet
    tax: Sheet
    cash: Sheet
    statements: Sheet
    even: Sheet
    back: Sheet
    rates: Sheet
    rows: dict[str, Row] = field(default_factory=dict)
    capital: dict[Row, AssetClass] = field(default_factory=dict)
    """Purchases by month, with their asset class."""
    ahead: dict[Row, AssetClass] = field(default_factory=dict)
    """What was paid before the plan for orders, in the month in which they arrive or are canceled."""
    at_site: dict[str, dict[Row, AssetClass]] = field(default_factory=dict)
    """With taxes by site: purchases, their sales tax and advances, by site; "" is all other sites."""
    running: list[Row] = field(default_factory=list)
    """Other payments of the owned side before income tax, by month."""
    lines: list[Row] = field(default_factory=list)
    """All payments of the owned side after tax, by month."""
    ends: dict[str, Row] = field(default_factory=dict)
    """Value at the end of the horizon, by the line of the purchases."""
    values: dict[tuple[str, str], list[Row]] = field(default_factory=dict)
    """Present values by side and line."""
    rents: dict[str, list[Row]] = field(default_factory=dict)
    """Payments of each rent before income tax, by month."""
    side: str = OWNED
    """Side of the sheets that have one: owned, or a sourcing option."""
    with_rent: bool = False
    """Whether the rent of a plan is among the payments of its side."""

    def keep(self, name: str, row: Row) -> Row:
        """Remember a row under a name."""
        self.rows[name] = row
        return row

    def term(self, sheet: Sheet, name: BookTerm, site: str = "") -> Row | None:
        """Write the value of a term on a sheet, once; None where the answer did not use it."""
        key = f"{sheet.name} {name} {site}".rstrip()
        row, value = self.source.row(name, site), self.source.given(name, site)
        if row is None or value is None:
            return None
        if key not in self.rows:
            note = f"input {row.input}" if row.input else str(getattr(row, "note", None) or "")
            self.keep(key, sheet.fact(name.value, (site, "", note), str(row.unit or ""), value))
        return self.rows[key]

    def needed(self, sheet: Sheet, name: BookTerm) -> Row:
        """Write the value of a term that every answer has.

        Raises
        ------
        ValueError
            When the answer has no such value.
        """
        row = self.term(sheet, name)
        if row is None:
            msg = f"the workbook needs the value of {name}"
            raise ValueError(msg)
        return row

    @property
    def basis(self) -> dict[Row, AssetClass]:
        """Purchases, and what was paid before the plan for those that arrive."""
        return self.capital | {r: x for r, x in self.ahead.items() if x in CAPITAL}

    @property
    def taxed(self) -> dict[str, dict[Row, AssetClass]]:
        """Purchases, their sales tax and advances that bear the rates of a site, or under "" of all."""
        return self.at_site or {"": self.basis}

    @property
    def lost(self) -> list[Row]:
        """What was paid before the plan for canceled orders."""
        return [row for row, asset in self.ahead.items() if asset not in CAPITAL]

    @property
    def inside(self) -> Term:
        """1 in the months of the horizon, else 0."""
        return flag(self.rows["quarter"] > 0)

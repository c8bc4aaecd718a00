"""A table of a result, declared once: its rows as a dataclass, each column with its meaning."""

from __future__ import annotations

import dataclasses
import functools
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Generic, TypeVar

from dcplan.result import Cell, Table

R = TypeVar("R")


class Shown(StrEnum):
    """Where a table or a column appears, in addition to JSON and CSV."""

    ALWAYS = "always"
    """On the terminal, in Markdown and on the page."""
    VERBOSE = "verbose"
    """On the terminal only with ``--verbose``."""
    DATA = "data"
    """In JSON, CSV and the workbook alone."""


class Section(StrEnum):
    """Section of a report that holds a table; reports show the sections in this order."""

    ORDERS = "Orders, runs and demand"
    COST = "Cost"
    RISK = "Risks"
    LIMITS = "Limits, and what would change the answer"
    DESIGN = "Design of halls, power, network and storage"
    OTHER = "Other tables"
    EXCLUDED = "Excluded options"


@dataclass(frozen=True)
class Column:
    """What one column means; the unit follows from its name.

    Parameters
    ----------
    meaning : str
        One sentence without its subject: what a cell of the column is.
    name : str, optional
        Name in the result, where it cannot be that of the field (``class``, ``from``).
    shown : Shown
        Whether people see it without asking.
    """

    meaning: str
    name: str = ""
    shown: Shown = Shown.ALWAYS


@dataclass(frozen=True)
class ColumnSpec:
    """One column of a declared table; ``<...>`` in its name is data."""

    name: str
    meaning: str
    shown: Shown
    attribute: str


@dataclass(frozen=True)
class TableSpec(Generic[R]):
    """One declared table; its row is a dataclass whose fields carry a :class:`Column` each.

    Parameters
    ----------
    name : str
        Name in ``Result.tables``.
    row : type
        Frozen dataclass; a field is ``Annotated[type, Column(...)]``, or an alias of that.
    title : str
        Heading for people.
    shown : Shown
        Whether people see the table without asking.
    wide : tuple of ColumnSpec
        Columns that come with the data, such as one a metric or one a quarter.
    section : Section
        Section of a report that holds it.
    by_item : bool
        Whether a row has the money of one item, which a redacted result leaves out.
    first : int
        Rows of the short form on the terminal; 0 for all.
    brief : callable, optional
        Whether the short form on the terminal shows a row.
    """

    name: str
    row: type[R]
    title: str
    shown: Shown = Shown.ALWAYS
    wide: tuple[ColumnSpec, ...] = field(default=())
    section: Section = Section.OTHER
    by_item: bool = False
    first: int = 0
    brief: Callable[[R], bool] | None = None

    @functools.cached_property
    def columns(self) -> tuple[ColumnSpec, ...]:
        """Columns in the order of the row's fields, then those that come with the data."""
        hints = typing.get_type_hints(self.row, include_extras=True)
        found = []
        for each in dataclasses.fields(self.row):  # type: ignore[arg-type]
            notes = getattr(hints[each.name], "__metadata__", ())
            column = next((x for x in notes if isinstance(x, Column)), None)
            if column is None:
                msg = f"{self.row.__name__}.{each.name} has no Column"
                raise TypeError(msg)
            name = column.name or each.name
            found.append(ColumnSpec(name, column.meaning, column.shown, each.name))
        return (*found, *self.wide)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the row's own columns."""
        return tuple(c.name for c in self.columns if c.attribute)

    def table(self, rows: Iterable[R], only: Sequence[str] | None = None) -> Table:
        """Make the table of a result; ``only`` keeps these columns, in the declared order."""
        kept = [c for c in self.columns if c.attribute and (only is None or c.name in only)]
        return Table(
            tuple(c.name for c in kept),
            tuple(tuple(getattr(row, c.attribute) for c in kept) for row in rows),
        )

    def wide_table(
        self,
        rows: Iterable[tuple[R, Mapping[str, Cell]]],
        extra: Sequence[str],
        *,
        second: Sequence[str] = (),
        only: Sequence[str] | None = None,
    ) -> Table:
        """Make a table some of whose columns come with the data; a missing cell is empty.

        Parameters
        ----------
        extra : sequence of str
            Columns of the data after the row's own.
        second : sequence of str
            Columns of the data after the first of the row's own.
        only : sequence of str, optional
            The row's own columns to keep.
        """
        own = [c for c in self.columns if c.attribute and (only is None or c.name in only)]
        names = [c.name for c in own]
        return Table(
            (*names[:1], *second, *names[1:], *extra),
            tuple(
                (
                    *(getattr(row, c.attribute) for c in own[:1]),
                    *(more.get(x) for x in second),
                    *(getattr(row, c.attribute) for c in own[1:]),
                    *(more.get(x) for x in extra),
                )
                for row, more in rows
            ),
        )

    def rows(self, table: Table) -> list[R]:
        """Read the rows of a table of a result back; columns that the row lacks are passed over.

        Raises
        ------
        KeyError
            When a column is missing.
        """
        at = {name: i for i, name in enumerate(table.columns)}
        own = {c.attribute: at[c.name] for c in self.columns if c.attribute}
        make: Any = self.row
        return [make(**{name: row[i] for name, i in own.items()}) for row in table.rows]


def pattern(name: str, meaning: str, shown: Shown = Shown.ALWAYS) -> ColumnSpec:
    """Declare columns that come with the data: ``<metric>`` or ``<quarter>_usd``."""
    return ColumnSpec(name, meaning, shown, "")

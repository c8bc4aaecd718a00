"""Rejected rows of an imported file, one by one and counted by reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from dcplan.result import Table
from dcplan.specs import imports as specs
from dcplan.specs.imports import RejectedRow


@dataclass(frozen=True)
class Refusal:
    """Why a row is rejected."""

    reason: str
    group: str = ""
    """The reason without the details of the row; empty: the reason has none."""
    instead: str = ""
    """What the row is instead of a row of the wanted kind; empty: it is one that cannot be used."""

    def row(self, line: int, what: str) -> RejectedRow:
        """Return the refusal as a row of the table."""
        return RejectedRow(line, what, self.reason, self.group or self.reason)


def imported_text(name: str, used: int, rejected: int) -> str:
    """Return how many rows of a file were imported and rejected.

    Examples
    --------
    >>> imported_text("list.csv", 1, 1200)
    'list.csv: 1 row imported, 1,200 rejected'
    """
    return f"{name}: {used:,} {'row' if used == 1 else 'rows'} imported, {rejected:,} rejected"


def rejected_tables(refused: Iterable[RejectedRow]) -> dict[str, Table]:
    """Return every rejected row, and their number by reason, the most frequent reason first."""
    rows = list(refused)
    groups: dict[str, list[RejectedRow]] = defaultdict(list)
    for row in rows:
        groups[row.group].append(row)
    counted = sorted(groups.values(), key=lambda own: (-len({r.line for r in own}), own[0].line))
    return {
        specs.REASONS.name: specs.REASONS.table(
            specs.ReasonRow(
                own[0].group,
                len({row.line for row in own}),
                own[0].line,
                own[0].what,
                "" if own[0].reason == own[0].group else own[0].reason,
            )
            for own in counted
        ),
        specs.REJECTED.name: specs.REJECTED.table(rows),
    }

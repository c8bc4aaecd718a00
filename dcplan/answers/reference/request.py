"""Requests of ``dcplan catalog``: a list, one row, or a check of all rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dcplan.scenario.ref import Catalogs
from dcplan.specs.request import Flag


@dataclass(frozen=True)
class ListRequest:
    """The kinds, or the rows of one kind."""

    kind: Annotated[
        str | None,
        Flag(
            "catalog kind, such as systems (default: list all kinds)",
            metavar="[KIND]",
            complete="kinds",
            argument=True,
        ),
    ] = None
    catalogs: Catalogs = ()


@dataclass(frozen=True)
class ShowRequest:
    """One row."""

    kind: Annotated[
        str,
        Flag(
            "kind, or the id if it is the only argument",
            metavar="KIND",
            complete="rows",
            argument=True,
        ),
    ]
    key: Annotated[str | None, Flag("id or alias", metavar="[ID]", argument=True)] = None
    catalogs: Catalogs = ()


@dataclass(frozen=True)
class CheckRequest:
    """All rows."""

    catalogs: Catalogs = ()
    stale_after: Annotated[
        int | None, Flag("report values older than this", unit="days", low=0, metavar="DAYS")
    ] = None

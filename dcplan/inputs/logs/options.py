"""What a reader of logs is given, and what it reports about each file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dcplan.errors import InputError, Place, Problem


class Kind(StrEnum):
    """Formats of logs."""

    SACCT = "sacct"
    SACCT_JSON = "sacct-json"
    KUEUE = "kueue"
    CSV = "csv"


@dataclass(frozen=True)
class LogOptions:
    """How logs are read."""

    kind: str | None = None
    """A :class:`Kind`; None: recognized from the content of each file."""
    timezone: str | None = None
    """IANA name of the zone of times that have none."""
    mig_fractions: Mapping[str, float] = field(default_factory=dict)
    """Share of an accelerator by the name of a partition: a MIG profile such as ``1g.10gb``, or
    ``shard``."""
    period: tuple[float, float] | None = None
    """Window of the log, as its export asked for it. [s since 1970 in UTC]"""

    def zone(self) -> ZoneInfo | None:
        """Return the zone of local times.

        Raises
        ------
        InputError
            When there is no zone of this name.
        """
        if self.timezone is None:
            return None
        try:
            return ZoneInfo(self.timezone)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            cause = f"no time zone {self.timezone!r}"
            step = "use a name of the IANA time zone database, such as Europe/Berlin"
            raise InputError([Problem("DC050", cause, Place("--timezone"), help=step)]) from error


@dataclass(frozen=True)
class LogFile:
    """One file that was read."""

    path: str
    kind: Kind
    sha256: str
    rows: int
    """Rows, or objects, without the header."""
    first_s: float
    """Earliest time; NaN without rows. [s]"""
    last_s: float
    """Latest time; NaN without rows. [s]"""

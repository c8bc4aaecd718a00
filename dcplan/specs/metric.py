"""A metric of a result, declared once: its key, unit, meaning, and whether a gate may name it."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field
from enum import StrEnum

from dcplan.result import Metric

ID = re.compile(r"<[^<>]+>")
"""A part of a declared key that is data, such as ``<job>``."""


class Better(StrEnum):
    """Which way a metric should go."""

    LOWER = "lower"
    HIGHER = "higher"
    NEITHER = "neutral"


@dataclass(frozen=True)
class MetricSpec:
    """One declared metric; calling it makes the entry of a result.

    Parameters
    ----------
    key : str
        Dotted key; ``<job>`` and the like stand for an id.
    unit : str
        Unit as printed; empty for a count or a ratio.
    meaning : str
        Text that the terminal, the reference pages and ``explain`` show.
    gate : bool, default True
        Whether ``expect:`` of a scenario may name it.
    better : Better
        Which way is an improvement, for comparisons.
    needs : str
        Block of the scenario without which no result has it, such as ``uncertainty.inputs``.
    absent : float, optional
        Value where a result lacks the key: a system that is not bought has no racks.
    unknown : str
        Reason why a value may be None, with the next step.
    main : bool, default False
        Whether the short form on the terminal and the head of the page show it.
    label : str
        Short name for people; the meaning where it is left out.
    date : bool, default False
        Whether the value is a date such as ``2027-09-01``.

    Examples
    --------
    >>> RACKS = MetricSpec("racks.<system>", "", "Racks of one system")
    >>> RACKS(3, "dgx-h200")
    {'racks.dgx-h200': Metric(value=3, unit='', label='Racks of one system', low=None, high=None)}
    """

    key: str
    unit: str
    meaning: str
    gate: bool = True
    better: Better = Better.NEITHER
    needs: str = ""
    absent: float | None = None
    unknown: str = ""
    main: bool = False
    label: str = ""
    date: bool = False
    ids: tuple[str, ...] = field(init=False)
    """Kinds of the ids in the key, in their order."""

    def __post_init__(self) -> None:
        """Read the kinds of ids off the key."""
        object.__setattr__(self, "ids", tuple(x[1:-1] for x in ID.findall(self.key)))

    def at(self, *ids: str) -> str:
        """Return the key with these ids.

        Raises
        ------
        ValueError
            When there are more or fewer ids than the key has places.
        """
        if len(ids) != len(self.ids):
            msg = f"{self.key} takes {len(self.ids)} ids, not {len(ids)}"
            raise ValueError(msg)
        parts = iter(ids)
        return ID.sub(lambda _: next(parts), self.key)

    def __call__(
        self,
        value: float | str | None,
        *ids: str,
        low: float | None = None,
        high: float | None = None,
        label: str | None = None,
        unit: str | None = None,
    ) -> dict[str, Metric]:
        """Make the entry of a result: key to value with its unit, meaning and bounds."""
        text, own = label or self.meaning, self.unit if unit is None else unit
        return {self.at(*ids): Metric(value, own, text, low, high)}

    def ids_in(self, key: str) -> tuple[str, ...] | None:
        """Return the ids of a key of a result; None where it is another metric.

        Examples
        --------
        >>> days = MetricSpec("train.<job>.days", "days", "Median length")
        >>> days.ids_in("train.base.days"), days.ids_in("cost.npv_usd")
        (('base',), None)
        """
        found = self._pattern.fullmatch(key)
        return found.groups() if found else None

    def fits(self, key: str) -> bool:
        """Whether a key of a result is this metric.

        Examples
        --------
        >>> MetricSpec("train.<job>.days", "days", "Median length").fits("train.base.days")
        True
        """
        return self.ids_in(key) is not None

    @functools.cached_property
    def _pattern(self) -> re.Pattern[str]:
        """Keys of this metric, with a group for each id."""
        parts = re.split(r"(<[^<>]+>)", self.key)
        return re.compile("".join("(.+)" if ID.fullmatch(x) else re.escape(x) for x in parts))

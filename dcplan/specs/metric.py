"""A metric of a result, declared once: its key, unit, meaning, and whether a gate may name it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from dcplan.result import Metric

ID = re.compile(r"<[^<>]+>")
"""A part of a declared key that is data, such as ``<job>``."""


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

    Examples
    --------
    >>> RACKS = MetricSpec("racks.<system>", "", "Racks ordered of one system")
    >>> RACKS(3, "dgx-h200")
    {'racks.dgx-h200': Metric(value=3, unit='', label='Racks ordered of one system', low=None, high=None)}
    """

    key: str
    unit: str
    meaning: str
    gate: bool = True
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
    ) -> dict[str, Metric]:
        """Make the entry of a result: key to value with its unit, meaning and bounds."""
        return {self.at(*ids): Metric(value, self.unit, label or self.meaning, low, high)}

    def fits(self, key: str) -> bool:
        """Whether a key of a result is this metric.

        Examples
        --------
        >>> MetricSpec("train.<job>.days", "days", "Median length").fits("train.base.days")
        True
        """
        pattern = "".join(
            ".+" if ID.fullmatch(part) else re.escape(part)
            for part in re.split(r"(<[^<>]+>)", self.key)
        )
        return re.fullmatch(pattern, key) is not None

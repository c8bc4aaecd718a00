"""How a scenario changes for more of a limit; :mod:`dcplan.planning.limits` declares it per limit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum


class Spread(Enum):
    """How a change of a value by quarter spreads over the quarters."""

    EACH = "each"
    """Only the quarters that lack something change."""
    LASTS = "lasts"
    """What one quarter gets stays in all later ones."""
    SUMS = "sums"
    """What one quarter gets is still there later, because the limit is a sum over quarters."""


@dataclass(frozen=True)
class Edit:
    """How a scenario changes for more of a limit.

    Parameters
    ----------
    kind : str
        What a planner would negotiate; limits of one kind and place change together.
    words : str
        What changes; ``{0}`` and so on are the ids of a row, ``{field}`` the field.
    step : float
        Smallest change, in the unit of the scenario.
    unit : str
        Unit for people.
    shown : float
        Units of the scenario in one unit for people.
    per_row : float
        Units of the scenario in one unit of the row; 0: the row's amount does not count.
    spread : Spread
        How a change of a value by quarter spreads.
    less : bool
        Whether the value falls, by a share of itself, as a demand does; ``step`` is then the
        smallest share.
    fallback : str
        Field that gives the limit if its own is left out.
    default : tuple of str
        Kind and id of the catalog parameter that gives the limit if its field is left out.
    most : float
        Largest value of the field, such as 1 of a share.
    """

    kind: str
    words: str
    step: float
    unit: str = ""
    shown: float = 1.0
    per_row: float = 1.0
    spread: Spread = Spread.EACH
    less: bool = False
    fallback: str = ""
    default: tuple[str, str] | None = None
    most: float = math.inf

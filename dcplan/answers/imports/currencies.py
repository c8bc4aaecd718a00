"""Exchange rates of imported amounts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dcplan.answers.imports.refused import Refusal
from dcplan.errors import InputError, Place, Problem

MOST_RATE = 1e6


class Rates(dict[str, float]):
    """USD for one unit of each currency, as given; keeps which of them the rows have."""

    def __init__(self, given: Mapping[str, float]) -> None:
        super().__init__(given)
        self._met: set[str] = set()

    def get(self, currency: str, default: Any = None) -> Any:
        """Return a rate, and keep that a row needed it."""
        self._met.add(currency)
        return super().get(currency, default)

    @property
    def unused(self) -> tuple[str, ...]:
        """Currencies that no row has, as given.

        Examples
        --------
        >>> rates = Rates({"EUR": 1.08, "CHF": 1.1})
        >>> rates.get("EUR"), rates.unused
        (1.08, ('CHF',))
        """
        return tuple(name for name in self if name not in self._met)

    def refuse_unused(self, rows: str) -> None:
        """Refuse rates that change nothing.

        Parameters
        ----------
        rows : str
            What no rate applies to, for the message.

        Raises
        ------
        InputError
            With each of them (DC050).
        """
        if self.unused:
            step = "leave the rate out, or correct the currency"
            raise InputError(
                Problem("DC050", f"no {rows} is in {name}", Place("--fx"), help=step)
                for name in self.unused
            )


def no_rate(currency: str) -> Refusal:
    """Return the refusal of a row in a currency without an exchange rate."""
    group = f"no exchange rate for {currency}"
    return Refusal(f"{group}: use --fx {currency}=RATE", group)


def fx_of(texts: tuple[str, ...]) -> Rates:
    """Return ``EUR=1.08`` as USD for one EUR.

    Raises
    ------
    InputError
        When a text does not have this form, or a currency has two rates.
    """
    found: dict[str, float] = {}
    for text in texts:
        match = re.fullmatch(r"([A-Z]{3})=(\d+(?:\.\d+)?)", text)
        if match is None or not 0 < float(match[2]) < MOST_RATE:
            raise InputError(
                [Problem("DC050", f"{text!r}: use a rate such as EUR=1.08", Place("--fx"))]
            )
        if match[1] in found:
            cause = f"{match[1]} has two rates"
            raise InputError([Problem("DC050", cause, Place("--fx"))])
        found[match[1]] = float(match[2])
    return Rates(found)

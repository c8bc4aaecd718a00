"""Exchange rates of imported amounts."""

from __future__ import annotations

import re

from dcplan.answers.imports.refused import Refusal
from dcplan.errors import InputError, Place, Problem

MOST_RATE = 1e6


def no_rate(currency: str) -> Refusal:
    """Return the refusal of a row in a currency without an exchange rate."""
    group = f"no exchange rate for {currency}"
    return Refusal(f"{group}: use --fx {currency}=RATE", group)


def fx_of(texts: tuple[str, ...]) -> dict[str, float]:
    """Return ``EUR=1.08`` as USD for one EUR.

    Raises
    ------
    InputError
        When a text does not have this form.
    """
    found = {}
    for text in texts:
        match = re.fullmatch(r"([A-Z]{3})=(\d+(?:\.\d+)?)", text)
        if match is None or not 0 < float(match[2]) < MOST_RATE:
            raise InputError(
                [Problem("DC050", f"{text!r}: use a rate such as EUR=1.08", Place("--fx"))]
            )
        found[match[1]] = float(match[2])
    return found

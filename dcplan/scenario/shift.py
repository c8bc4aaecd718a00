"""``shift(n)`` as a value of ``--set``, of an override or of a sweep: n quarters later.

A series moves in time, and a quarter becomes another one; a negative n is earlier.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from dcplan.errors import InputError, Problem
from dcplan.provenance import Path
from dcplan.scenario.series import MOST_QUARTERS, SHIFT, is_growth, is_series
from dcplan.units import quarter_index, quarter_name

NAME = "shift"
CALL = re.compile(rf"\s*{NAME}\s*\(([^()]*)\)\s*")
QUARTER = re.compile(r"\d{4}-Q[1-4]")


def is_shift(value: Any) -> bool:
    """Whether a value is a shift, right or wrong.

    Examples
    --------
    >>> is_shift("shift(2)"), is_shift("shift"), is_shift(2)
    (True, False, False)
    """
    return isinstance(value, str) and CALL.fullmatch(value) is not None


def shifted(node: Any, at: Path, text: str, problem: Callable[..., Problem]) -> Any:
    """Return a value of the raw data n quarters later.

    A list repeats its first value, and its last ones leave the horizon; with a negative n it
    repeats its last value. Growth moves with ``shift_quarters``: the start value holds before. A
    quarter becomes the n-th after it.

    Parameters
    ----------
    node : object
        Value before the shift.
    at : tuple
        Path of the value.
    text : str
        ``shift(n)``, n an integer from -80 to 80.
    problem : callable
        Makes a problem at the place of the shift, from code, cause and next step.

    Raises
    ------
    InputError
        DC004 for a wrong n or a value that does not vary in time, DC014 if there is no value.

    Examples
    --------
    >>> shifted([4, 6, 9], ("sites", 0, "utility_mw"), "shift(1)", Problem)
    [4, 4, 6]
    >>> shifted("2027-Q4", ("sites", 0, "halls", 0, "available_from"), "shift(2)", Problem)
    '2028-Q2'
    """
    n = _quarters(text)
    code, help_text = "DC004", "give one number per quarter, or {start, growth_frac_per_quarter}"
    if n is None:
        cause = f"expected an integer from -{MOST_QUARTERS} to {MOST_QUARTERS}"
        help_text = "shift(2) is two quarters later, shift(-1) one earlier"
    elif isinstance(node, str) and QUARTER.fullmatch(node):
        return quarter_name(quarter_index(node) + n)
    elif node is None:
        code, cause = "DC014", "the scenario has no value to shift"
        help_text = "give the value first"
    elif not is_series(at):
        cause = "only a quarter or a series by quarter moves in time"
        help_text = "sites.a.utility_mw=shift(2)"
    elif is_growth(node):
        return {**node, SHIFT: _added(node.get(SHIFT, 0), n)}
    elif isinstance(node, list) and len(node) > 1:
        last = len(node) - 1
        return [node[min(max(t - n, 0), last)] for t in range(len(node))]
    else:
        cause = "a number does not vary in time"
    name = ".".join(map(str, at))
    raise InputError([problem(code, f"{name}: {text.strip()}: {cause}", help=help_text)])


def _quarters(text: str) -> int | None:
    found = CALL.fullmatch(text)
    inner = found[1].strip() if found else ""
    if not re.fullmatch(r"[-+]?[0-9]{1,2}", inner) or abs(int(inner)) > MOST_QUARTERS:
        return None
    return int(inner)


def _added(before: Any, n: int) -> Any:
    """Add to an earlier shift; a wrong one stays, and the expansion reports it."""
    return before + n if isinstance(before, int) and not isinstance(before, bool) else before

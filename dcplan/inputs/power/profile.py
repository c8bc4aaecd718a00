"""Files with the output of PV and wind by hour."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from dcplan.catalog.yaml12 import read_text
from dcplan.errors import InputError, Place, Problem
from dcplan.units import TYPICAL_YEAR_HOURS

Array = npt.NDArray[np.float64]
MOST_PROBLEMS = 20


def read_profile(file: Path) -> Array:
    """Read 8,760 numbers from 0 to 1: the last cell of each line, after a header or none.

    Raises
    ------
    InputError
        With the line of each value that is no number, or out of range; or when there are not 8,760.
    """
    lines = [
        (number, line.split(",")[-1].strip())
        for number, line in enumerate(read_text(file).removeprefix("\ufeff").splitlines(), 1)
        if line.strip()
    ]
    if lines and not _is_number(lines[0][1]):
        lines = lines[1:]
    values: list[float] = []
    problems: list[Problem] = []
    for number, cell in lines:
        value = float(cell) if _is_number(cell) else float("nan")
        if not 0.0 <= value <= 1.0:
            cause = f"{cell!r} is no capacity factor from 0 to 1"
            step = "divide the power of the hour by the rating of the plant"
            problems.append(Problem("DC062", cause, Place(str(file), number), help=step))
        values.append(value)
    if problems:
        raise InputError(problems[:MOST_PROBLEMS])
    if len(values) != TYPICAL_YEAR_HOURS:
        cause = f"{len(values):,} values, and a year has {TYPICAL_YEAR_HOURS:,} hours"
        step = "one value an hour from 1 January; leave 29 February out"
        raise InputError([Problem("DC062", cause, Place(str(file)), help=step)])
    return np.array(values)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True

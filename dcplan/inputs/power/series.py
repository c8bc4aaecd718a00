"""Series of a typical year by hour, from CSV files of the user."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from dcplan.catalog.yaml12 import read_text
from dcplan.errors import InputError, Place, Problem
from dcplan.units import TYPICAL_YEAR_HOURS

MOST_PROBLEMS = 20


def read_hours(
    file: Path, limits: tuple[float, float], what: str, step: str
) -> npt.NDArray[np.float64]:
    """Read 8,760 numbers between limits: the last cell of each line, with or without a header.

    ``what`` names a value, and ``step`` says what to do with one out of range.

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
    low, high = limits
    values: list[float] = []
    problems: list[Problem] = []
    for number, cell in lines:
        value = float(cell) if _is_number(cell) else float("nan")
        if not low <= value <= high:
            cause = f"{cell!r} is no {what} from {low:,g} to {high:,g}"
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


def read_profile(file: Path) -> npt.NDArray[np.float64]:
    """Read 8,760 numbers from 0 to 1: the last cell of each line, with or without a header.

    Raises
    ------
    InputError
        With the line of each value that is no number, or out of range; or when there are not 8,760.
    """
    step = "divide the power of the hour by the rating of the plant"
    return read_hours(file, (0.0, 1.0), "capacity factor", step)

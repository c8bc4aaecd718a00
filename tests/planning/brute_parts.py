"""Parts of the brute force of two sites: states of a quarter, a battery by its terms, a linear program."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import highspy
import numpy as np
import numpy.typing as npt

from dcplan.planning.problem.energy import OnsiteTerms, TrancheTerms

DAYS = 91.3125
HOURS = DAYS * 24
K = 1000.0
"""Money is in 1,000 USD."""
INF = highspy.kHighsInf
Vector = npt.NDArray[np.float64]


@dataclass(frozen=True)
class State:
    """What integer decisions leave in a quarter."""

    racks: tuple[int, ...]
    """Racks in service by placement."""
    net_kw: tuple[float, ...]
    """Power of the network by hall."""
    units: tuple[int, ...]
    """Units of the plant in service by site; 0 without a plant."""
    used: tuple[bool, ...]
    """Whether a hall of the site is fitted, by site."""
    steps: tuple[int, ...]
    """Steps of the contract in force by site; 0 without a contract."""


@dataclass(frozen=True)
class Sides:
    """Sides of the rows of one program, and what does not depend on its columns."""

    lower: Vector
    upper: Vector
    kusd: float
    carbon_t: tuple[float, ...]
    """Carbon of the fixed energy by site, as if it came from the grid."""


def power_per_mw(e: OnsiteTerms, hours: float) -> float:
    """Power of a battery for one MW that it gives for some hours, within its energy."""
    assert e.battery is not None
    return max(1.0, hours / (e.battery.hours * math.sqrt(e.battery.round_trip_frac)))


def shaving_loss_h(e: OnsiteTerms) -> float:
    """Losses of a quarter for one MW that is shaved on each of its days [MWh]."""
    assert e.battery is not None
    return (1.0 / e.battery.round_trip_frac - 1.0) * (e.battery.peak_h or 0.0) * DAYS


def event_loss_h(e: OnsiteTerms, y: TrancheTerms) -> float:
    """Losses of a quarter for one MW that is carried through the interruptions of a tranche [MWh]."""
    assert e.battery is not None
    return (1.0 / e.battery.round_trip_frac - 1.0) * y.hours_per_year / 4.0


def program(
    cost: Sequence[float],
    most: Sequence[float],
    rows: Sequence[Mapping[int, float]],
    lower: Vector,
    upper: Vector,
) -> highspy.Highs:
    """A solver with a linear program of columns that are not negative."""
    solver = highspy.Highs()
    for name, value in (("output_flag", False), ("threads", 1)):
        solver.setOptionValue(name, value)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(cost), len(rows)
    lp.col_cost_, lp.col_lower_ = np.array(cost), np.zeros(len(cost))
    lp.col_upper_, lp.row_lower_, lp.row_upper_ = np.array(most), lower, upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.cumsum([0, *(len(r) for r in rows)])
    lp.a_matrix_.index_ = np.array([i for r in rows for i in r], dtype=np.int32)
    lp.a_matrix_.value_ = np.array([x for r in rows for x in r.values()], dtype=np.float64)
    solver.passModel(lp)
    return solver


def solved(solver: highspy.Highs) -> tuple[float, Vector] | None:
    """Optimum and columns of a linear program; None where it is infeasible."""
    solver.run()
    status = solver.getModelStatus()
    if status == highspy.HighsModelStatus.kOptimal:
        value = float(solver.getInfo().objective_function_value)
        return value, np.array(solver.getSolution().col_value)
    if status in (
        highspy.HighsModelStatus.kInfeasible,
        highspy.HighsModelStatus.kUnboundedOrInfeasible,
    ):
        return None
    raise RuntimeError(solver.modelStatusToString(status))

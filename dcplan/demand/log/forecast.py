"""Demand of coming quarters from the weeks of a log, with its errors on weeks that it had not seen."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from dcplan.demand.log.jobs import Array
from dcplan.demand.log.work import Work
from dcplan.units import HOURS_PER_QUARTER, SECONDS_PER_HOUR, SECONDS_PER_WEEK

SEARCH_LEAST_WEEKS = 4
"""Weeks from which a forecast is made at least."""
SEARCH_STEP_WEEKS = 13
"""Weeks of a quarter."""
SEARCH_COVERED_FRAC = 0.8
"""Share of the outcomes that an interval covers."""
SECONDS_PER_QUARTER = HOURS_PER_QUARTER * SECONDS_PER_HOUR
SEARCH_DAMPING = (0.8, 0.95)
"""Share of a trend that remains after each week."""
SEARCH_WEIGHTS = (0.1, 0.3)
"""Weights of a new week in exponential smoothing."""
Model = Callable[[Array, int], Array]
"""Weeks so far and weeks to forecast -> the forecast of each."""


@dataclass(frozen=True)
class Forecast:
    """Demand of coming quarters."""

    model: str
    """Model with the least error on unseen weeks."""
    level: Array
    """Mean of each quarter."""
    low: Array
    """10th percentile."""
    high: Array
    """90th percentile."""
    origins: int
    """Moments from which the first quarter was forecast and compared with the log."""
    error_frac: float
    """Mean absolute error of these forecasts over the outcome."""
    covered_frac: float
    """Share of these outcomes in the interval made of the other errors; NaN with fewer than five."""


def weekly_use(work: Work) -> Array:
    r"""Return the unit-hours of the jobs submitted in each whole week over the hours of a week.

    .. math:: u_w = \frac{1}{T_w} \sum_{i \in w} n_i S_i

    Parameters
    ----------
    work : Work

    Examples
    --------
    >>> from dcplan.demand.log.work import work_of
    >>> week = 604800.0
    >>> weekly_use(work_of([0.0, week, 2 * week], [week / 2, week, 1.0], [4, 3, 1])).tolist()
    [2.0, 3.0]
    """
    if not len(work):
        return np.zeros(0)
    week = ((work.submit_s - work.submit_s[0]) // SECONDS_PER_WEEK).astype(np.int64)
    whole = int((work.submit_s[-1] - work.submit_s[0]) // SECONDS_PER_WEEK)
    used = np.bincount(week, weights=work.units * work.run_s, minlength=whole)[:whole]
    return np.asarray(used / SECONDS_PER_WEEK)


def least_weeks(quarters: int) -> int:
    """Return the weeks that a log needs at least for a forecast of some quarters.

    The last quarter must be compared with the log at least once.

    Examples
    --------
    >>> least_weeks(1), least_weeks(4)
    (17, 56)
    """
    return SEARCH_STEP_WEEKS * quarters + SEARCH_LEAST_WEEKS


def lead_quarters(first_s: float, last_s: float, start_s: float | None = None) -> float:
    r"""Return the quarters from the middle of a log to the middle of the first coming quarter.

    .. math:: l = \frac{1}{T_q} \left(t_q + \frac{T_q}{2} - \frac{t_0 + t_1}{2}\right)

    The mean of a log is the demand at its middle, so that a demand that grows by g in a quarter is
    (1 + g)^l times that mean in the first quarter.

    Parameters
    ----------
    first_s, last_s : float
        First and last moment of the log. [s]
    start_s : float, optional
        Start of the first coming quarter; the end of the log where it is left out. [s]

    References
    ----------
    .. [1] Definition; own.

    Examples
    --------
    A log of one quarter, followed at once by the next, and half a year later:

    >>> quarter = SECONDS_PER_QUARTER
    >>> lead_quarters(0.0, quarter), lead_quarters(0.0, quarter, 3.0 * quarter)
    (1.0, 3.0)
    """
    begins_s = last_s if start_s is None else start_s
    ahead_s = begins_s + SECONDS_PER_QUARTER / 2.0 - (first_s + last_s) / 2.0
    return ahead_s / SECONDS_PER_QUARTER


def forecast(weekly: Array, quarters: int) -> Forecast:
    r"""Return the mean of each coming quarter, with an interval from errors on unseen weeks.

    Each model forecasts from every week of the log that is followed by the weeks to compare with
    (rolling origin). The model with the least mean absolute error, which is twice the pinball loss
    of the median, makes the forecast. The interval of quarter q has the level times exp(+-e), where
    e is the conformal quantile of the absolute log errors of that quarter:

    .. math:: e = |\ln(y / \hat y)|_{(k)}, \quad k = \lceil 0.8 (n + 1) \rceil

    or the largest of them where k is above their number n.

    Parameters
    ----------
    weekly : array, shape (weeks,)
        Positive demand of each week.
    quarters : int

    Raises
    ------
    ValueError
        When the log is shorter than the horizon and four weeks.

    References
    ----------
    .. [1] L. J. Tashman, "Out-of-sample tests of forecasting accuracy", International Journal of
       Forecasting 16, 2000: rolling origin.
    .. [2] V. Vovk, A. Gammerman, G. Shafer, "Algorithmic Learning in a Random World", 2005:
       conformal prediction.
    .. [3] E. S. Gardner, E. McKenzie, "Forecasting trends in time series", Management Science 31,
       1985: damped trend.

    Examples
    --------
    >>> found = forecast(np.full(30, 5.0), 1)
    >>> found.level.tolist(), found.low.tolist(), found.error_frac
    ([5.0], [5.0], 0.0)
    """
    if len(weekly) < least_weeks(quarters):
        msg = (
            f"a log of {len(weekly)} weeks is too short for {quarters} quarters: "
            f"{least_weeks(quarters)} weeks are needed"
        )
        raise ValueError(msg)
    found = {name: _errors(weekly, quarters, model) for name, model in MODELS.items()}
    name = min(found, key=lambda m: (_loss(found[m]), list(MODELS).index(m)))
    level = _by_quarter(MODELS[name](weekly, SEARCH_STEP_WEEKS * quarters))
    errors = found[name]
    spread = np.maximum.accumulate([_conformal(np.abs(e)) for e in errors])
    first = errors[0]
    return Forecast(
        name,
        level,
        level * np.exp(-spread),
        level * np.exp(spread),
        len(first),
        float(np.mean(np.abs(1.0 - np.exp(-first)))),
        _coverage(np.abs(first)),
    )


def _errors(weekly: Array, quarters: int, model: Model) -> list[Array]:
    """Return the log errors of each quarter, from every origin that has its outcome."""
    found: list[list[float]] = [[] for _ in range(quarters)]
    for origin in range(SEARCH_LEAST_WEEKS, len(weekly) - SEARCH_STEP_WEEKS + 1):
        reach = min((len(weekly) - origin) // SEARCH_STEP_WEEKS, quarters)
        levels = _by_quarter(model(weekly[:origin], SEARCH_STEP_WEEKS * reach))
        for q in range(reach):
            first = origin + SEARCH_STEP_WEEKS * q
            outcome = float(weekly[first : first + SEARCH_STEP_WEEKS].mean())
            found[q].append(math.log(outcome / float(levels[q])))
    return [np.array(e) for e in found]


def _loss(errors: list[Array]) -> float:
    return float(np.mean([np.mean(np.abs(e)) for e in errors]))


def _conformal(errors: Array) -> float:
    k = math.ceil(SEARCH_COVERED_FRAC * (len(errors) + 1))
    return float(np.sort(errors)[min(k, len(errors)) - 1])


def _coverage(errors: Array) -> float:
    """Return the share of errors within the quantile of all others."""
    if len(errors) < SEARCH_LEAST_WEEKS + 1:
        return math.nan
    others = (np.delete(errors, i) for i in range(len(errors)))
    return float(np.mean([e <= _conformal(o) + 1e-12 for e, o in zip(errors, others, strict=True)]))


def _by_quarter(weekly: Array) -> Array:
    return np.asarray(weekly.reshape(-1, SEARCH_STEP_WEEKS).mean(axis=1))


def _last(weeks: int) -> Model:
    return lambda past, ahead: np.full(ahead, float(past[-weeks:].mean()))


def _damped(weight: float, damping: float) -> Model:
    """Return exponential smoothing of the logarithm with a damped trend."""

    def run(past: Array, ahead: int) -> Array:
        logs = np.log(past)
        level, trend = float(logs[0]), 0.0
        for value in logs[1:].tolist():
            before = level
            level = weight * value + (1.0 - weight) * (level + damping * trend)
            trend = weight * (level - before) + (1.0 - weight) * damping * trend
        steps = np.cumsum(damping ** np.arange(1, ahead + 1))
        return np.asarray(np.exp(level + trend * steps))

    return run


MODELS: Mapping[str, Model] = {
    "mean of the last 13 weeks": _last(13),
    "mean of the last 4 weeks": _last(4),
    **{
        f"damped trend ({weight:g}, {damping:g})": _damped(weight, damping)
        for weight in SEARCH_WEIGHTS
        for damping in SEARCH_DAMPING
    },
}
"""Models that are compared on unseen weeks; the first wins a tie."""

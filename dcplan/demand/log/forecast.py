"""Demand of coming quarters from the weeks of a log, with its errors on weeks that it had not seen."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dcplan.demand.log.jobs import Array
from dcplan.demand.log.work import Work
from dcplan.demand.state_space import Models, State, filtered, mean_ahead, models
from dcplan.units import HOURS_PER_QUARTER, SECONDS_PER_HOUR, SECONDS_PER_WEEK

SEARCH_LEAST_WEEKS = 4
"""Weeks from which a forecast is made at least."""
SEARCH_STEP_WEEKS = 13
"""Weeks of a quarter."""
SEARCH_COVERED_FRAC = 0.8
"""Share of the outcomes that an interval covers."""
SECONDS_PER_QUARTER = HOURS_PER_QUARTER * SECONDS_PER_HOUR
SEARCH_LEAST_APART = 4
"""Outcomes that do not overlap from which errors on unseen weeks correct the interval: with fewer,
no quantile of them covers four fifths."""


@dataclass(frozen=True)
class Forecast:
    """Demand of coming quarters."""

    moving_frac: float
    """Weight of the models whose level moves for good, or has a drift."""
    level: Array
    """Median of the mean of each quarter."""
    low: Array
    """10th percentile."""
    high: Array
    """90th percentile."""
    origins: int
    """Moments from which the first quarter was forecast and compared with the log."""
    error_frac: float
    """Mean absolute error of these forecasts over the outcome."""
    covered_frac: float
    """Share of these outcomes in the interval of their moment; NaN with fewer than five."""
    factor: float
    """Width of the interval of the first quarter over that of the models, from errors on unseen weeks."""


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
    r"""Return the mean of each coming quarter, with an interval that errors on unseen weeks correct.

    The logarithm of the weeks follows a level that moves (:mod:`dcplan.demand.state_space`), averaged
    over models from a level that stays to one whose moves all stay, with and without a drift. The
    same forecast is made at each earlier week whose quarter the log has. Its errors over the
    half-width of its interval are the scores s. The interval is wider by their conformal quantile:

    .. math:: c = s_{(p)}, \quad p = \min\left(1, 0.8 \, \frac{n + 1}{n}\right)

    with n the outcomes over the 13 weeks of each, because outcomes that overlap are not independent;
    c is 1 below n = 4. Later quarters with fewer outcomes take the factor of the quarter before.

    Parameters
    ----------
    weekly : array, shape (weeks,)
        Positive demand of each week.
    quarters : int

    Raises
    ------
    ValueError
        When the log is shorter than the horizon and four weeks, or a week has no demand.

    References
    ----------
    .. [1] M. West, J. Harrison, "Bayesian Forecasting and Dynamic Models", 2nd edition, 1997.
    .. [2] L. J. Tashman, "Out-of-sample tests of forecasting accuracy", International Journal of
       Forecasting 16, 2000: rolling origin.
    .. [3] V. Vovk, A. Gammerman, G. Shafer, "Algorithmic Learning in a Random World", 2005; J. Lei
       et al., "Distribution-free predictive inference for regression", Journal of the American
       Statistical Association 113, 2018: scores over a spread.

    Examples
    --------
    >>> found = forecast(np.full(30, 5.0), 1)
    >>> round(float(found.level[0]), 2), found.origins, found.covered_frac
    (5.0, 14, 1.0)
    """
    _refuse(weekly, quarters)
    among = models()
    states = filtered(np.log(weekly), among)
    past = [_past(weekly, states, among, q) for q in range(quarters)]
    factor = _factors(past)
    low, level, high = np.array([_interval(states[-1], among, q) for q in range(quarters)]).T
    below, above = (np.maximum.accumulate(factor * np.abs(x - level)) for x in (low, high))
    moves = among.stays * (among.moves > 0.0) + among.drift > 0.0
    return Forecast(
        float(states[-1].weight @ moves),
        np.exp(level),
        np.exp(level - below),
        np.exp(level + above),
        len(past[0].score),
        float(np.mean(np.abs(1.0 - np.exp(-past[0].error)))),
        _coverage(past[0].score),
        float(factor[0]),
    )


def _refuse(weekly: Array, quarters: int) -> None:
    """Refuse a log that is too short, or whose weeks have no rate of growth."""
    if len(weekly) < least_weeks(quarters):
        msg = (
            f"a log of {len(weekly)} weeks is too short for {quarters} quarters: "
            f"{least_weeks(quarters)} weeks are needed"
        )
        raise ValueError(msg)
    if not np.all(weekly > 0.0):
        msg = "weeks without demand have no rate of growth"
        raise ValueError(msg)


@dataclass(frozen=True)
class Past:
    """Forecasts of one quarter from earlier weeks, against the log."""

    error: Array
    """Logarithm of the outcome over the forecast."""
    score: Array
    """Absolute error over the half-width of the interval on its side."""


def _interval(state: State, among: Models, quarter: int) -> tuple[float, ...]:
    """Return the 10th percentile, the median and the 90th percentile of the logarithm of a quarter."""
    found = mean_ahead(state, among, SEARCH_STEP_WEEKS * quarter, SEARCH_STEP_WEEKS)
    rest = (1.0 - SEARCH_COVERED_FRAC) / 2.0
    return found.quantiles((rest, 0.5, 1.0 - rest))


def _past(weekly: Array, states: list[State], among: Models, quarter: int) -> Past:
    """Return the forecasts of one quarter from every earlier week that has its outcome."""
    errors, scores = [], []
    last = len(weekly) - SEARCH_STEP_WEEKS * (quarter + 1)
    for origin in range(SEARCH_LEAST_WEEKS, last + 1):
        first = origin + SEARCH_STEP_WEEKS * quarter
        outcome = math.log(float(weekly[first : first + SEARCH_STEP_WEEKS].mean()))
        low, level, high = _interval(states[origin - 1], among, quarter)
        error = outcome - level
        errors.append(error)
        scores.append(abs(error) / (high - level if error > 0.0 else level - low))
    return Past(np.array(errors), np.array(scores))


def _factors(past: list[Past]) -> Array:
    """Return the factor of each quarter; one with too few outcomes takes that of the quarter before."""
    found = [1.0]
    for one in past:
        found.append(_factor(one.score, found[-1]))
    return np.array(found[1:])


def _factor(scores: Array, without: float) -> float:
    """Return the conformal quantile of the scores, or what to take without enough of them."""
    apart = len(scores) / SEARCH_STEP_WEEKS
    if apart < SEARCH_LEAST_APART:
        return without
    share = min(SEARCH_COVERED_FRAC * (apart + 1.0) / apart, 1.0)
    return float(np.quantile(scores, share))


def _coverage(scores: Array) -> float:
    """Return the share of outcomes in intervals that were corrected by the outcomes known then."""
    if len(scores) < SEARCH_LEAST_WEEKS + 1:
        return math.nan
    known = [scores[: max(k - SEARCH_STEP_WEEKS + 1, 0)] for k in range(len(scores))]
    return float(np.mean([s <= _factor(x, 1.0) for s, x in zip(scores, known, strict=True)]))

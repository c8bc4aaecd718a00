"""Forecast of a series: models of a moving level on its logarithms, averaged by probability."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from dcplan.demand.log.jobs import Array

SEARCH_PERSISTENCE = (1.0, 0.95, 0.8, 0.5)
"""Share of a move of the level that remains after each step; 1: a move stays for good."""
SEARCH_MOVES = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 30.0)
"""Variance of a move of the level over that of a step around it."""
SEARCH_DRIFTS = (0.0, 0.1)
"""Standard deviation of the drift per step, over that of a step; 0: no drift."""
SEARCH_SPREAD = 0.3
"""Standard deviation of a step before any is known: its logarithm changes by 30 %."""
SEARCH_SPREAD_STEPS = 1.0
"""Number of observed steps that have the same weight as this first value."""
SEARCH_HALVINGS = 36
"""Halvings of the range in which a quantile is searched."""
SEARCH_LEAST_WEIGHT = 1e-5
"""Weight over that of the most probable model below which a model is left out of a quantile."""
SEARCH_REACH = 60.0
"""Standard deviations around the means in which a quantile is searched."""
SEARCH_VAGUE = 1e6
"""Variance of the first level, over that of a step: it is unknown."""


@dataclass(frozen=True)
class Models:
    """Models of a series, one in each place of the arrays; variances are shares of that of a step."""

    persistence: Array
    moves: Array
    """Variance of a move of the level."""
    noise: Array
    """Variance of a step around the level."""
    drift: Array
    """Standard deviation of the drift."""

    def __len__(self) -> int:
        """Return the number of models."""
        return len(self.moves)

    @property
    def stays(self) -> Array:
        """Whether a move of the level stays for good, as 0 or 1."""
        return np.asarray(self.persistence >= 1.0, dtype=np.float64)


@dataclass(frozen=True)
class State:
    """What is known after some steps, for each model."""

    mean: Array
    """Level, deviation that fades, and drift; shape (models, 3)."""
    covariance: Array
    """Their covariance over the variance of a step; shape (models, 3, 3)."""
    squares: Array
    """Sum of the squared errors, each over its variance as a share of that of a step."""
    errors: int
    log_likelihood: Array

    @property
    def degrees(self) -> float:
        """Degrees of freedom of the variance of a step."""
        return SEARCH_SPREAD_STEPS + self.errors

    @property
    def variance(self) -> Array:
        """Variance of a step by each model."""
        prior = SEARCH_SPREAD_STEPS * SEARCH_SPREAD**2
        return np.asarray((prior + self.squares) / self.degrees)

    @property
    def weight(self) -> Array:
        """Probability of each model; all are equally probable before the first step."""
        near = np.exp(self.log_likelihood - self.log_likelihood.max())
        return np.asarray(near / near.sum())


@dataclass(frozen=True)
class Mixture:
    """Distribution of a value: Student's t of each model, with the weights of the models."""

    mean: Array
    spread: Array
    degrees: float
    weight: Array

    def quantiles(self, shares: tuple[float, ...]) -> tuple[float, ...]:
        """Return the values that the outcome does not exceed with each probability.

        Examples
        --------
        >>> one = Mixture(np.array([2.0]), np.array([1.0]), 1e9, np.array([1.0]))
        >>> [round(q, 3) for q in one.quantiles((0.5, 0.9))]
        [2.0, 3.282]
        """
        from scipy.special import stdtr  # needs a tenth of a second to import

        goal = np.array(shares)
        kept = self.weight > SEARCH_LEAST_WEIGHT * self.weight.max()
        mean, spread = self.mean[kept], self.spread[kept]
        weight = self.weight[kept] / self.weight[kept].sum()
        low = np.full(len(goal), float((mean - SEARCH_REACH * spread).min()))
        high = np.full(len(goal), float((mean + SEARCH_REACH * spread).max()))
        for _ in range(SEARCH_HALVINGS):
            middle = (low + high) / 2.0
            below = stdtr(self.degrees, (middle[:, None] - mean) / spread) @ weight < goal
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return tuple(((low + high) / 2.0).tolist())


def models() -> Models:
    """Return all models: each persistence with each size of the moves, with and without a drift.

    A level without moves is in the list once.

    Examples
    --------
    >>> len(models())
    52
    """
    rows = [
        (persistence, moves, drift)
        for persistence, moves, drift in product(SEARCH_PERSISTENCE, SEARCH_MOVES, SEARCH_DRIFTS)
        if persistence >= 1.0 or moves > SEARCH_MOVES[1]
    ]
    persistence, moves, drift = np.array(rows).T
    return Models(persistence, moves / (1.0 + moves), 1.0 / (1.0 + moves), drift)


def filtered(logs: Array, among: Models) -> list[State]:
    r"""Return what each model knows after each step (Kalman filter).

    .. math:: y_t = \mu_t + a_t + \epsilon_t, \quad a_t = \varphi a_{t-1} + \eta_t, \quad
       \mu_t = \mu_{t-1} + b \ (+ \eta_t \text{ if } \varphi = 1)

    A step is the mean of a level that moves all the time, as use adds up over a week. The noise and
    the moves have a common unknown variance, with an inverse-gamma distribution. Each step adds the
    logarithm of its Student density to the log likelihood of a model.

    Parameters
    ----------
    logs : array, shape (steps,)
        Logarithm of each step; at least one.
    among : Models

    References
    ----------
    .. [1] M. West, J. Harrison, "Bayesian Forecasting and Dynamic Models", 2nd edition, 1997,
       chapter 4: unknown variance; chapter 12: mixtures of models.
    .. [2] A. C. Harvey, "Forecasting, Structural Time Series Models and the Kalman Filter", 1989,
       chapter 9: flow variables.

    Examples
    --------
    >>> last = filtered(np.full(20, 3.0), models())[-1]
    >>> last.errors, round(float(last.weight @ last.mean[:, 0]), 6)
    (19, 3.0)
    """
    size, stays = len(among), among.stays
    moved, passed = np.zeros((size, 3, 3)), np.zeros((size, 3, 3))
    moved[:, 0, 0], moved[:, 1, 1] = among.moves * stays, among.moves * (1.0 - stays)
    passed[:, 0, 0] = passed[:, 0, 2] = passed[:, 2, 2] = 1.0
    passed[:, 1, 1] = among.persistence * (1.0 - stays)
    mean, known = np.zeros((size, 3)), np.zeros((size, 3, 3))
    mean[:, 0], known[:, 0, 0], known[:, 2, 2] = logs[0], SEARCH_VAGUE, among.drift**2
    known[:, 1, 1] = moved[:, 1, 1] / np.maximum(1.0 - among.persistence**2, 1e-9)
    state = State(mean, known, np.zeros(size), 0, np.zeros(size))
    found: list[State] = []
    for step, value in enumerate(logs.tolist()):
        if step:
            mean = np.einsum("gij,gj->gi", passed, state.mean)
            known = passed @ state.covariance @ passed.transpose(0, 2, 1) + moved
            state = State(mean, known, state.squares, state.errors, state.log_likelihood)
        state = _updated(state, value, among, first=not step)
        found.append(state)
    return found


def _updated(state: State, value: float, among: Models, *, first: bool) -> State:
    """Return what is known with one more step; the first has no error, as nothing was known.

    A step is the mean of a level that moves all the time. A move of variance 1 has a covariance of
    1/2 with the level at the end of the step minus that mean, whose variance is 1/3.
    """
    mean, known = state.mean, state.covariance
    error = value - mean[:, 0] - mean[:, 1]
    seen = known[:, :, 0] + known[:, :, 1]
    spread = seen[:, 0] + seen[:, 1] + among.noise
    if not first:
        half = among.moves / 2.0
        seen = seen - np.stack([half * among.stays, half * (1.0 - among.stays), 0.0 * half], axis=1)
        spread = spread - 2.0 * half + among.moves / 3.0
    gain = seen / spread[:, None]
    mean = mean + gain * error[:, None]
    known = known - gain[:, :, None] * gain[:, None, :] * spread[:, None, None]
    if first:
        return State(mean, known, state.squares, state.errors, state.log_likelihood)
    scale, degrees = spread * state.variance, state.degrees
    density = -0.5 * (degrees + 1.0) * np.log1p(error**2 / scale / degrees) - 0.5 * np.log(scale)
    return State(
        mean,
        known,
        state.squares + error**2 / spread,
        state.errors + 1,
        state.log_likelihood + density,
    )


def mean_ahead(state: State, among: Models, after: int, steps: int) -> Mixture:
    r"""Return the distribution of the logarithm of the mean of coming steps.

    The logarithm of a mean is above the mean of the logarithms by half their variance in the steps
    (lognormal), of which the noise counts:

    .. math:: \ln \frac{1}{n} \sum_k e^{y_k} \approx \frac{1}{n} \sum_k y_k
       + \frac{\sigma_\epsilon^2}{2} \left(1 - \frac{1}{n}\right)

    Parameters
    ----------
    state : State
    among : Models
    after : int
        Steps between the last known one and the first of the mean.
    steps : int
        Steps of the mean.

    References
    ----------
    .. [1] West and Harrison, as in :func:`filtered`; own: the lognormal term.

    Examples
    --------
    >>> known, among = filtered(np.full(40, 3.0), models()), models()
    >>> near, far = (mean_ahead(known[-1], among, k, 13).quantiles((0.1, 0.9)) for k in (0, 13))
    >>> near[1] - near[0] < far[1] - far[0]
    True
    """
    stays = among.stays
    lags = np.arange(after + 1, after + steps + 1)
    fades = (among.persistence[:, None] ** lags).mean(axis=1) * (1.0 - stays)
    weights = np.stack([np.ones(len(among)), fades, np.full(len(among), lags.mean())], axis=1)
    mean = np.einsum("gi,gi->g", weights, state.mean)
    known = np.einsum("gi,gij,gj->g", weights, state.covariance, weights)
    age = lags[:, None] - np.arange(1, after + steps + 1)
    share = np.where(age > 0, among.persistence[:, None, None] ** np.maximum(age, 0), 0.0)
    share = share + 0.5 * (age == 0)  # a move acts in half of its own step
    moves = among.moves * (share.mean(axis=1) ** 2).sum(axis=1)
    variance = (known + moves + among.noise / steps) * state.variance
    above = state.variance * among.noise / 2.0 * (1.0 - 1.0 / steps)
    return Mixture(mean + above, np.sqrt(variance), state.degrees, state.weight)

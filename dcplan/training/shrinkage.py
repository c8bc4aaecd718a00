"""Fit of a few constants of the training model to a few measured runs.

Every constant has a prior and a width, so that it stays at the prior unless the runs say otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from dcplan.llm.tables import Array

Predict = Callable[[Array], Array]
"""Step times of all runs [s], one row for each row of constants."""
FIT_STEP = 1e-4
"""Step of a derivative, in the logarithm of a constant."""
FIT_ROUNDS = 60
"""Evaluations after which a fit ends."""


@dataclass(frozen=True)
class Priors:
    """Constants before a fit, one entry each."""

    value: Array
    """Prior; above 0."""
    width: Array
    """Standard deviation of its logarithm."""
    most: Array
    """Upper bound; infinite if there is none."""


@dataclass(frozen=True)
class Shrunk:
    """Constants after a fit, one entry each."""

    value: Array
    """Fitted value, in the unit of the prior."""
    moved: Array
    """Change of the logarithm, in widths of the prior."""
    informed: Array
    """Share of the prior's variance that the runs remove: 0 if they say nothing, 1 if all."""

    def spread(self, width: Array) -> Array:
        """Return the standard deviation of the logarithm after the fit, from that of the prior."""
        return width * np.sqrt(1.0 - self.informed)


def shrink(
    predict: Predict,
    measured_s: Array,
    priors: Priors,
    *,
    noise: float,
    weight: Array | None = None,
) -> Shrunk:
    r"""Fit constants to measured step times, with shrinkage to their priors.

    .. math:: \min_x \sum_i w_i\,\rho\!\left(\frac{\ln t_i(e^x) - \ln m_i}{u}\right)
       + \sum_j \rho\!\left(\frac{x_j - \ln p_j}{s_j}\right),
       \quad \rho(z) = 2\left(\sqrt{1 + z^2} - 1\right)

    The loss is square near 0 and linear far away, so that one odd run moves little. A constant that
    no run depends on keeps its prior exactly.

    Parameters
    ----------
    predict : callable
        Step times of the runs for each row of constants. [s]
    measured_s : array
        Measured step times m; above 0. [s]
    priors : Priors
        Priors p and widths s of the constants.
    noise : float
        Error u of the logarithm that a run may have for its own reasons; above 0. [-]
    weight : array, optional
        Weight w of each run: 1, or 0 if it is left out. [-]

    Examples
    --------
    A constant that is the step time itself, measured at twice its prior with little noise:

    >>> one = Priors(np.array([1.0]), np.array([0.3]), np.array([np.inf]))
    >>> found = shrink(lambda x: x, np.array([2.0]), one, noise=0.01)
    >>> float(found.value[0].round(2)), float(found.informed[0].round(2))
    (2.0, 1.0)

    References
    ----------
    .. [1] A. Gelman et al., "Bayesian Data Analysis", 3rd edition, 2013, section 13.1 (mode of a
       posterior).
    """
    prior, width = np.log(priors.value), priors.width
    most = np.maximum(np.log(priors.most), prior)
    scale = np.sqrt(np.ones(measured_s.size) if weight is None else weight) / noise

    def logs(x: Array) -> Array:
        """Return the scaled errors of each row of constants."""
        return np.log(predict(np.exp(x)) / measured_s) * scale

    def residuals(x: Array) -> Array:
        return np.concatenate([logs(x[None, :])[0], (x - prior) / width])

    def slopes(x: Array) -> Array:
        """Return the derivatives of all errors; steps downward never leave the bounds."""
        found = logs(np.vstack([x, x - FIT_STEP * np.eye(x.size)]))
        return np.vstack([((found[0] - found[1:]) / FIT_STEP).T, np.diag(1.0 / width)])

    found = least_squares(
        residuals,
        prior,
        jac=slopes,
        bounds=(-np.inf, most + FIT_STEP),
        loss="soft_l1",
        max_nfev=FIT_ROUNDS,
    )
    x = np.minimum(found.x, most)
    return Shrunk(np.exp(x), (x - prior) / width, _informed(slopes(x), width))


def _informed(slopes: Array, width: Array) -> Array:
    """Return 1 less the ratio of the variances after and before the fit."""
    after = np.diag(np.linalg.inv(slopes.T @ slopes))
    return np.clip(1.0 - after / width**2, 0.0, 1.0)


def left_out(predict: Predict, measured_s: Array, priors: Priors, *, noise: float) -> Array:
    """Return the log error of each run with constants fitted to the other runs.

    Parameters
    ----------
    predict, measured_s, priors, noise
        As :func:`shrink` reads them; at least two runs.
    """
    found = np.zeros(measured_s.size)
    for i in range(measured_s.size):
        weight = np.ones(measured_s.size)
        weight[i] = 0.0
        fitted = shrink(predict, measured_s, priors, noise=noise, weight=weight)
        found[i] = np.log(predict(fitted.value[None, :])[0, i] / measured_s[i])
    return found


def half_width_frac(log_errors: Array, share: float) -> float:
    r"""Return the half width of the interval that holds a share of new runs.

    .. math:: h = e^{q} - 1, \quad q = |e|_{(k)}, \quad k = \min(\lceil (n + 1)\,c \rceil, n)

    It is the k-th smallest absolute error of runs that the fit did not see. With fewer than
    c / (1 - c) runs it is the largest error, and holds less than the share.

    Parameters
    ----------
    log_errors : array
        Errors of :func:`left_out`; at least one. [-]
    share : float
        Share c that the interval holds, from 0 to 1.

    Examples
    --------
    >>> round(half_width_frac(np.log([1.1, 0.8, 1.02, 1.05, 1.0]), 0.8), 3)
    0.25

    References
    ----------
    .. [1] R. F. Barber et al., "Predictive inference with the jackknife+", Annals of Statistics 49,
       2021.
    """
    size = np.sort(np.abs(log_errors))
    rank = min(int(np.ceil((size.size + 1) * share - FIT_STEP)), size.size)
    return float(np.expm1(size[max(rank, 1) - 1]))

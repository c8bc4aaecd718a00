"""Level payments, loans, interest during construction and the cover of debt service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from dcplan.economics.ranges import Array, Value, above, as_value, within

DrawAt = Literal["begin", "mid", "end"]
DRAW_SHARE: dict[str, float] = {"begin": 1.0, "mid": 0.5, "end": 0.0}
"""Part of its own period for which a draw bears interest."""


def annuity_factor(rate_per_period: Value, periods: Value, *, in_advance: bool = False) -> Value:
    r"""Present value of 1 paid in each of n periods: :math:`a = (1-(1+i)^{-n})/i`, times
    :math:`1+i` in advance.

    Parameters
    ----------
    rate_per_period : float or array
        Of one period, above -1; 0 gives n. [1/period]
    periods : float or array
        Above 0. [-]
    in_advance : bool
        Paid at the start of each period (leases) instead of its end (loans).

    Raises
    ------
    ValueError
        When the rate is not above -1 or there are no periods.

    Examples
    --------
    >>> round(annuity_factor(0.08, 5), 4), annuity_factor(0.0, 5)
    (3.9927, 5.0)
    """
    i = above("rate_per_period", rate_per_period, -1.0)
    n = above("periods", periods)
    flat = i == 0.0
    safe = np.where(flat, 1.0, i)
    factor = np.where(flat, n, -np.expm1(-n * np.log1p(i)) / safe)
    return as_value(factor * (1.0 + i) if in_advance else factor)


def level_payment_usd(
    principal_usd: Value,
    rate_per_period: Value,
    periods: Value,
    *,
    in_advance: bool = False,
    balloon_usd: Value = 0.0,
) -> Value:
    r"""Level payment that repays a principal: :math:`A = (P - B(1+i)^{-n}) / a`, B left to pay at
    the very end.

    Parameters
    ----------
    principal_usd : float or array
        Money received at the start. [USD]
    rate_per_period : float or array
        Of one period, above -1; see :func:`~dcplan.economics.rates.periodic_rate`. [1/period]
    periods : float or array
        Number of payments, above 0. [-]
    in_advance : bool
        Paid at the start of each period.
    balloon_usd : float or array
        Paid besides at the end of the last period; the whole principal makes a bullet loan. [USD]

    References
    ----------
    .. [1] Capital recovery factor; M. B. Taylor et al., ASIC Clouds, ISCA 2016 (8 %, 144 months).

    Examples
    --------
    >>> round(level_payment_usd(20_000, 0.08 / 12, 144), 2), round(level_payment_usd(6_000, 0.08 / 12, 18), 2)
    (216.49, 354.84)
    """
    growth = np.log1p(above("rate_per_period", rate_per_period, -1.0))
    ending = within("balloon_usd", balloon_usd) * np.exp(-growth * periods)
    owed = within("principal_usd", principal_usd) - ending
    return as_value(owed / annuity_factor(rate_per_period, periods, in_advance=in_advance))


def level_payments_present_value_usd(
    payment_usd: Value,
    rate_per_period: Value,
    periods: Value,
    *,
    in_advance: bool = False,
    balloon_usd: Value = 0.0,
) -> Value:
    r"""Present value of level payments and a balloon: :math:`P = A\,a + B(1+i)^{-n}`; arguments as
    above.

    Examples
    --------
    Excel's PV(0.08/12, 240, 500):

    >>> round(level_payments_present_value_usd(500, 0.08 / 12, 240), 2)
    59777.15
    """
    factor = annuity_factor(rate_per_period, periods, in_advance=in_advance)
    ending = np.exp(-np.asarray(periods) * np.log1p(np.asarray(rate_per_period, dtype=np.float64)))
    return as_value(
        within("payment_usd", payment_usd) * factor + within("balloon_usd", balloon_usd) * ending
    )


@dataclass(frozen=True)
class Amortization:
    """A loan by time: column k of each array is k periods after it was paid out. Shape (..., n +
    1). [USD]

    Payments of column k are interest and principal of column k; the balance is what is owed after
    them.
    """

    payment_usd: Array
    interest_usd: Array
    principal_usd: Array
    balance_usd: Array


def amortization(
    principal_usd: Value,
    rate_per_period: Value,
    periods: int,
    *,
    in_advance: bool = False,
    balloon_usd: Value = 0.0,
) -> Amortization:
    """Schedule of a level-payment loan; the balance of the last column is zero.

    In arrears column 0 holds no payment; in advance column n holds the balloon alone.
    Arguments as :func:`level_payment_usd`; all but ``periods`` may be arrays of samples.

    Raises
    ------
    ValueError
        When there is no period or the rate is not above -1.

    Examples
    --------
    >>> loan = amortization(1000.0, 0.1, 2)
    >>> loan.payment_usd.round(2).tolist(), loan.interest_usd.round(2).tolist()
    ([0.0, 576.19, 576.19], [0.0, 100.0, 52.38])
    >>> loan.balance_usd.round(2).tolist()
    [1000.0, 523.81, 0.0]
    """
    level = level_payment_usd(
        principal_usd, rate_per_period, periods, in_advance=in_advance, balloon_usd=balloon_usd
    )
    i, balance = np.broadcast_arrays(
        np.asarray(rate_per_period, dtype=np.float64), np.asarray(level) * 0.0 + principal_usd
    )
    payment = np.zeros((*balance.shape, periods + 1))
    paid = slice(0, periods) if in_advance else slice(1, periods + 1)
    payment[..., paid] = np.asarray(level)[..., None]
    payment[..., -1] += balloon_usd
    interest, balances = np.zeros_like(payment), np.zeros_like(payment)
    for k in range(periods + 1):
        interest[..., k] = balance * i if k else 0.0
        balance = balance + interest[..., k] - payment[..., k]
        balances[..., k] = balance
    return Amortization(payment, interest, payment - interest, balances)


def interest_during_construction_usd(
    draws_usd: npt.ArrayLike,
    rate_per_period: Value,
    *,
    draw_at: DrawAt = "mid",
    opening_usd: Value = 0.0,
) -> Array:
    r"""Interest capitalised in each period of construction: :math:`I_k = i\,(D_{k-1} + s\,d_k)`,
    added to the debt D.

    Parameters
    ----------
    draws_usd : array, shape (..., periods)
        Debt drawn in each period. [USD]
    rate_per_period : float or array
        Of one period, at least 0. [1/period]
    draw_at : {"begin", "mid", "end"}
        When in its period a draw is made: s = 1, 1/2 (the average balance) or 0.
    opening_usd : float or array
        Debt before the first period. [USD]

    Returns
    -------
    array, shape (..., periods)
        Interest by period; debt at completion is all draws plus all interest. [USD]

    Examples
    --------
    >>> interest_during_construction_usd([100.0, 100.0], 0.10, draw_at="begin").round(2).tolist()
    [10.0, 21.0]
    >>> interest_during_construction_usd([100.0, 100.0], 0.10).tolist()
    [5.0, 15.5]
    """
    draws = within("draws_usd", draws_usd)
    i = within("rate_per_period", rate_per_period, 0.0)
    debt = draws[..., 0] * 0.0 + np.asarray(opening_usd)
    interest = np.zeros(
        np.broadcast_shapes(draws.shape, (*np.broadcast_shapes(i.shape, debt.shape), 1))
    )
    for k in range(draws.shape[-1]):
        interest[..., k] = i * (debt + DRAW_SHARE[draw_at] * draws[..., k])
        debt = debt + draws[..., k] + interest[..., k]
    return interest


def debt_service_coverage(
    cash_available_usd: npt.ArrayLike, debt_service_usd: npt.ArrayLike
) -> Array:
    """DSCR by period: cash available for debt service over interest and principal; infinite where
    none is due.

    Examples
    --------
    >>> debt_service_coverage([130.0, 90.0, 50.0], [100.0, 100.0, 0.0]).tolist()
    [1.3, 0.9, inf]
    """
    cash, due = np.broadcast_arrays(
        within("cash_available_usd", cash_available_usd), np.asarray(debt_service_usd)
    )
    owed = within("debt_service_usd", due, 0.0)
    return np.asarray(np.divide(cash, owed, out=np.full(cash.shape, np.inf), where=owed > 0.0))


def minimum_debt_service_coverage(
    cash_available_usd: npt.ArrayLike, debt_service_usd: npt.ArrayLike
) -> Value:
    """Lowest DSCR of all periods, which covenants test; one number for each sample.

    Examples
    --------
    >>> minimum_debt_service_coverage([130.0, 90.0, 50.0], [100.0, 100.0, 0.0])
    0.9
    """
    return as_value(debt_service_coverage(cash_available_usd, debt_service_usd).min(axis=-1))

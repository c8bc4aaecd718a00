"""Level payments and the schedule of a loan."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcplan.economics.ranges import Array, Value, above, as_value, within


def annuity_factor(rate_per_period: Value, periods: Value, *, in_advance: bool = False) -> Value:
    r"""Return the present value of 1 paid in each of n periods.

    :math:`a = (1-(1+i)^{-n})/i`, times :math:`1+i` in advance.

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
    r"""Return the level payment that repays a principal.

    :math:`A = (P - B(1+i)^{-n}) / a`, with the balloon B left to pay at the end.

    Parameters
    ----------
    principal_usd : float or array
        Money received at the start. [USD]
    rate_per_period : float or array
        Of one period, above -1; see a nominal yearly rate over 12. [1/period]
    periods : float or array
        Number of payments, above 0. [-]
    in_advance : bool
        Paid at the start of each period.
    balloon_usd : float or array
        Additional payment at the end of the last period; the full principal makes a bullet loan. [USD]

    References
    ----------
    .. [1] Capital recovery factor; M. B. Taylor et al., ASIC Clouds, ISCA 2016 (8 %, 144 months).

    Examples
    --------
    >>> round(level_payment_usd(20_000, 0.08 / 12, 144), 2)
    216.49
    """
    growth = np.log1p(above("rate_per_period", rate_per_period, -1.0))
    ending = within("balloon_usd", balloon_usd) * np.exp(-growth * periods)
    owed = within("principal_usd", principal_usd) - ending
    return as_value(owed / annuity_factor(rate_per_period, periods, in_advance=in_advance))


@dataclass(frozen=True)
class Amortization:
    """A loan over time, in USD: column k of each array is k periods after the payout.

    The shape is (..., n + 1). Payments of column k are interest and principal of column k; the
    balance is the debt after them.
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
    """Schedule a loan of level payments; the balance of the last column is zero.

    In arrears column 0 holds no payment; in advance, column n holds only the balloon.
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

"""Income and property tax; a loss is carried forward, or used at once elsewhere in the company."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from dcplan.economics.ranges import Array, Value, within

Losses = Literal["carry-forward", "used-at-once"]


@dataclass(frozen=True)
class IncomeTax:
    """Tax by year in USD, shape (..., years)."""

    taxable_usd: Array
    """Income less deductions, before losses of other years; negative in a loss year."""
    loss_used_usd: Array
    """Earlier losses deducted in this year."""
    loss_carried_usd: Array
    """Losses to carry forward at the end of the year."""
    tax_usd: Array
    """Tax paid; negative if a loss saves tax elsewhere in the company."""


def income_tax(
    operating_income_usd: npt.ArrayLike,
    depreciation_usd: npt.ArrayLike,
    interest_usd: npt.ArrayLike,
    *,
    rate_frac: Value,
    losses: Losses = "carry-forward",
    offset_limit_frac: Value = 1.0,
    opening_loss_usd: Value = 0.0,
) -> IncomeTax:
    r"""Return income tax by year: :math:`T_t = \tau\,(E_t - D_t - I_t - L_t)`.

    Each deduction counts once, here.

    Parameters
    ----------
    operating_income_usd : array, shape (..., years)
        Income less running cost, before depreciation and interest; negative for a cost center. Gain
        or loss on a sale (price less tax book value) belongs here in its year. [USD]
    depreciation_usd, interest_usd : array, shape (..., years) or one number
        Tax depreciation and deductible interest. [USD]
    rate_frac : float or array of samples
        Federal and state together, 0 to 1. [-]
    losses : {"carry-forward", "used-at-once"}
        A loss is deducted from later income of this project, or saves tax at once on income elsewhere in
        the company.
    offset_limit_frac : float or array of samples
        Part of a year's income that carried losses may offset; 0.8 in the US since 2018 (Internal
        Revenue Code, section 172(a)(2)).
        [-]
    opening_loss_usd : float or array of samples
        Loss carried into the first year, at least 0. [USD]

    Raises
    ------
    ValueError
        When a rate or limit is not a fraction, or the opening loss is negative.

    References
    ----------
    .. [1] US Internal Revenue Code, sections 163, 168 and 172.

    Examples
    --------
    A loss of 100, then income of 150, of which 80 % may be offset:

    >>> late = income_tax([-100.0, 150.0], 0.0, 0.0, rate_frac=0.21, offset_limit_frac=0.8)
    >>> late.tax_usd.round(2).tolist(), late.loss_carried_usd.tolist()
    ([0.0, 10.5], [100.0, 0.0])
    >>> at_once = income_tax([-100.0, 150.0], 0.0, 0.0, rate_frac=0.21, losses="used-at-once")
    >>> at_once.tax_usd.round(2).tolist()
    [-21.0, 31.5]
    """
    rate = within("rate_frac", rate_frac, 0.0, 1.0)[..., None]
    limit = within("offset_limit_frac", offset_limit_frac, 0.0, 1.0)
    carried = within("opening_loss_usd", opening_loss_usd, 0.0)
    deducted = within("depreciation_usd", depreciation_usd) + within("interest_usd", interest_usd)
    taxable = within("operating_income_usd", operating_income_usd) - deducted
    lead = np.broadcast_shapes(taxable.shape[:-1], carried.shape, limit.shape)
    used, left = np.zeros((*lead, taxable.shape[-1])), np.zeros((*lead, taxable.shape[-1]))
    if losses == "carry-forward":
        for t in range(taxable.shape[-1]):
            income = taxable[..., t]
            used[..., t] = np.minimum(carried, limit * np.maximum(income, 0.0))
            carried = carried - used[..., t] + np.maximum(-income, 0.0)
            left[..., t] = carried
        return IncomeTax(taxable, used, left, np.asarray(rate * (np.maximum(taxable, 0.0) - used)))
    if np.any(carried > 0.0):
        msg = "opening_loss_usd must be 0 if losses are used at once"
        raise ValueError(msg)
    return IncomeTax(taxable, used, left, np.asarray(rate * taxable))


def property_tax_usd(
    value_usd: npt.ArrayLike,
    rate_frac: Value,
    *,
    assessment_frac: Value = 1.0,
    abated_frac: npt.ArrayLike = 0.0,
) -> Array:
    """Return property tax by year: value x assessment ratio x (1 - abatement) x rate.

    Parameters
    ----------
    value_usd : array, shape (..., years)
        Assessed, or book value at the start of each year. [USD]
    rate_frac : float or array of samples
        Tax over assessed value, 0.0125 for 12.50 USD per 1,000. [1/year]
    assessment_frac : float or array of samples
        Assessed over market value. [-]
    abated_frac : float or array, shape (years,)
        Part abated by agreement. [-]

    Examples
    --------
    >>> property_tax_usd([80.0, 50.0], 0.02, abated_frac=[0.5, 0.0]).tolist()
    [0.8, 1.0]
    """
    rate = within("rate_frac", rate_frac, 0.0, 1.0) * within(
        "assessment_frac", assessment_frac, 0.0
    )
    kept = 1.0 - within("abated_frac", abated_frac, 0.0, 1.0)
    return np.asarray(within("value_usd", value_usd) * kept * rate[..., None])

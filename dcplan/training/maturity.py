"""Speed of software that is young on an accelerator generation."""

from __future__ import annotations

import math


def maturity_frac(age_quarters: float, first_frac: float, settling_quarters: float) -> float:
    r"""Return the speed of matrix products over that of settled software.

    .. math:: s = 1 - (1 - s_0)\,e^{-a / \tau}

    Parameters
    ----------
    age_quarters : float
        Age a of the software's release since the first accelerators were available; a negative
        age counts as 0. [quarters]
    first_frac : float
        Speed s_0 at age 0, 0 to 1.
    settling_quarters : float
        Time constant tau, above 0. [quarters]

    Examples
    --------
    >>> round(maturity_frac(2.0, 0.8, 2.0), 4)
    0.9264
    """
    return 1.0 - (1.0 - first_frac) * math.exp(-max(age_quarters, 0.0) / settling_quarters)

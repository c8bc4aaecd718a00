"""Time of collective operations, alpha-beta model."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def ring_half_s(message_gb: Array, ranks: Array, gb_per_s: float, latency_s: float = 0.0) -> Array:
    r"""Ring reduce-scatter, or all-gather, of a message over ``ranks``.

    .. math:: t = (n-1)\,\alpha + \frac{n-1}{n}\,\frac{M}{\beta}

    Parameters
    ----------
    message_gb : array
        Full message of one rank. [GB, decimal]
    ranks : array
        Ranks in the ring, at least 1. [-]
    gb_per_s : float
        One-way bandwidth of one rank. [GB/s]
    latency_s : float, default 0.0
        Latency of one step. [s]

    References
    ----------
    .. [1] R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication Operations in
       MPICH", 2005, section 4.

    Examples
    --------
    >>> float(ring_half_s(np.array(50.0), np.array(2.0), 50.0))
    0.5
    """
    return (ranks - 1) * latency_s + (ranks - 1) / ranks * message_gb / gb_per_s

"""Checkpoints: size, blocking time and optimum interval."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dcplan.units import GIGA

Value = float | npt.NDArray[np.float64]


def checkpoint_bytes(params: Value, weight_bytes: Value, state_bytes: Value) -> Value:
    """Return the bytes of a checkpoint: model weights, master weights and moments.

    Examples
    --------
    BLOOM, 176.2 B parameters at 2 + 12 bytes; its 2.3 TB, read as 2^40 bytes, are within 3 %:

    >>> round(float(checkpoint_bytes(176.247e9, 2, 12) / 2**40), 2)
    2.24
    """
    return params * (weight_bytes + state_bytes)


def blocking_s(
    size_bytes: Value, writers: Value, writer_gb_per_s: Value, storage_gb_per_s: Value = np.inf
) -> Value:
    r"""Return seconds for which training waits while a checkpoint leaves the accelerators.

    .. math:: w = \frac{B}{\min(n\,b_n,\ b_{storage})}

    Parameters
    ----------
    size_bytes : float
        Size of the checkpoint. [byte]
    writers : float
        Nodes that write, or accelerators that copy to their hosts. [-]
    writer_gb_per_s, storage_gb_per_s : float
        Rate of one writer, and of the storage; infinite if hosts keep the copy.
        [GB/s]

    Examples
    --------
    405 B x 16 bytes to storage of 250 GB/s:

    >>> round(float(blocking_s(405e9 * 16, 2048, 20, 250)), 1)
    25.9
    """
    return size_bytes / (np.minimum(writers * writer_gb_per_s, storage_gb_per_s) * GIGA)


def daly_interval_s(save_s: Value, mttf_s: Value) -> Value:
    r"""Return Daly's higher-order interval.

    .. math:: \sqrt{2wM}\left[1 + \tfrac13\sqrt{\tfrac{w}{2M}} + \tfrac19\tfrac{w}{2M}\right] - w
              \quad (w < 2M), \qquad M \text{ otherwise}

    References
    ----------
    .. [1] J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart
       dumps", 2006.

    Examples
    --------
    >>> round(float(daly_interval_s(10, 6000)), 1)
    339.8
    """
    part = save_s / (2.0 * mttf_s)
    best = np.sqrt(2.0 * save_s * mttf_s) * (1.0 + np.sqrt(part) / 3.0 + part / 9.0) - save_s
    return np.where(part < 1.0, best, mttf_s)

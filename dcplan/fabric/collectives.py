"""Time of collective operations over a scale-up domain and the scale-out rails behind it.

Alpha-beta model.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def ring_half_s(
    message: Array, ranks: Array, per_s: Array | float, latency_s: Array | float = 0.0
) -> Array:
    r"""Return the time of a ring reduce-scatter or all-gather of a message.

    .. math:: t = (n-1)\,\alpha + \frac{n-1}{n}\,\frac{M}{\beta}

    Parameters
    ----------
    message : array
        Full message of one rank. [GB or byte]
    ranks : array
        Ranks in the ring, at least 1. [-]
    per_s : array or float
        One-way bandwidth of the ring, in the message's unit. [1/s]
    latency_s : array or float, default 0.0
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
    return (ranks - 1) * latency_s + (ranks - 1) / ranks * message / per_s


def tree_half_s(message: Array, ranks: Array, per_s: Array, latency_s: Array) -> Array:
    r"""Return the time of a reduce-scatter or all-gather with a logarithmic number of steps.

    .. math:: t = \lceil\log_2 n\rceil\,\alpha + \frac{n-1}{n}\,\frac{M}{\beta}

    Libraries use it on many ranks (trees, PAT), and switches in hardware (NVLink SHARP).

    Examples
    --------
    >>> one = np.array(1.0)
    >>> float(tree_half_s(8 * one, 8 * one, 7 * one, 0 * one))
    1.0
    """
    return (
        np.ceil(np.log2(np.maximum(ranks, 1.0))) * latency_s + (ranks - 1) / ranks * message / per_s
    )


def group_rate(
    ranks: Array,
    stride: Array,
    domain: Array,
    scaleup_bytes_per_s: Array,
    scaleout_bytes_per_s: Array,
) -> tuple[Array, npt.NDArray[np.bool_]]:
    r"""Return the ring bandwidth of one group while all other groups of the domain are busy.

    The second value is whether the group leaves the domain.

    A group with rank distance ``stride`` has :math:`r = \min(n, \lfloor d/stride\rfloor)` of
    them in a domain of d. Inside one domain the ring runs at the scale-up rate. Across domains it
    uses the r NICs of its own ranks: :math:`\min(\beta_{up}, r\,\beta_{out})`; the other groups use
    the others, so no link is counted twice.

    Parameters
    ----------
    ranks, stride, domain : array
        Ranks of the group, their distance in rank order, ranks of a scale-up domain; at least 1.
        [-]
    scaleup_bytes_per_s, scaleout_bytes_per_s : array
        One-way rate of one rank. [byte/s]

    Returns
    -------
    tuple of array
        Rate, and 1 if the group leaves the domain.

    Examples
    --------
    Eight of 64 data-parallel ranks in each node: the ring uses eight NICs.

    >>> one = np.array(1.0)
    >>> rate, leaves = group_rate(64 * one, one, 8 * one, 450 * one, 50 * one)
    >>> float(rate), bool(leaves)
    (400.0, True)

    With tensor parallelism 8, each group has one rank per node.

    >>> float(group_rate(64 * one, 8 * one, 8 * one, 450 * one, 50 * one)[0])
    50.0
    """
    inside = np.clip(np.floor(domain / stride), 1.0, ranks)
    leaves = inside < ranks
    return np.where(
        leaves, np.minimum(scaleup_bytes_per_s, inside * scaleout_bytes_per_s), scaleup_bytes_per_s
    ), leaves


def all_to_all_s(
    rows: Array,
    row_bytes: Array,
    copies: Array,
    ranks: Array,
    stride: Array,
    domain: Array,
    scaleup_bytes_per_s: Array,
    scaleout_bytes_per_s: Array,
    most_domains: Array | float = np.inf,
) -> Array:
    r"""Return the time to send each of ``rows`` to ``copies`` random ranks of the group.

    It models the tokens of expert parallelism.

    A row is sent once to each required rank, and once to each required other domain; of n
    that is on average :math:`D(n) = (n-1)(1 - (1 - 1/n)^c)` others, at most ``most_domains``. The
    two transfers run in parallel:

    .. math:: t = R\,b\,\max\left(D(n)/\beta_{up},\; D(N)/\beta_{out}\right)

    References
    ----------
    .. [1] DeepSeek-AI, "DeepSeek-V3 Technical Report", 2024, section 3.2.2 (one copy for each node, forwarded
       over NVLink).
    """
    inside = np.clip(np.floor(domain / stride), 1.0, ranks)
    domains = np.maximum(ranks / inside, 1.0)

    def others(n: Array) -> Array:
        return (n - 1.0) * (1.0 - (1.0 - 1.0 / n) ** copies)

    return (
        rows
        * row_bytes
        * np.maximum(
            others(ranks) / scaleup_bytes_per_s,
            np.minimum(others(domains), most_domains) / scaleout_bytes_per_s,
        )
    )

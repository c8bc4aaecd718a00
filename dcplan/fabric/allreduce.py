"""Time of collectives over all accelerators by message size.

Domains and rails work in parallel, with two protocols.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcplan.fabric.collectives import Array, ring_half_s, tree_half_s
from dcplan.units import GIGA


@dataclass(frozen=True)
class Levels:
    """Accelerators of a collective, their links, and latencies.

    Rates are one-way, per accelerator.
    """

    ranks: int
    domain: int
    """Accelerators in one scale-up domain."""
    scaleup_bytes_per_s: float
    scaleout_bytes_per_s: float
    scaleup_s: float
    """Latency of a step inside a domain."""
    scaleout_s: float
    """Latency of a step between domains."""
    gain: float = 1.0
    """Gain of all-reduce from switches that reduce inside a domain."""
    bulk_s: float = 0.0
    """Start time of the protocol for large messages."""
    low_latency_frac: float = 1.0
    """Rate of the protocol for small messages, relative to that for large messages."""

    @property
    def inside(self) -> int:
        """Return the ranks in a domain."""
        return min(self.ranks, self.domain)

    @property
    def domains(self) -> float:
        """Return the number of domains."""
        return self.ranks / self.inside


def all_reduce_s(message_bytes: Array, levels: Levels) -> Array:
    r"""Return the time of an all-reduce inside domains, with a reduction between them on rails [s].

    It is that of the faster of two protocols.

    .. math:: t = \max\left(\frac{2(g-1)}{g}\frac{M}{\gamma\,\beta_{up}},\;
              \frac{2(k-1)}{k}\frac{M/g}{\beta_{out}}\right) + 2\lceil\log_2 g\rceil\alpha_{up}
              + 2\lceil\log_2 k\rceil\alpha_{out}

    for a message M, g ranks in a domain and k domains, with one-way rates :math:`\beta`, latencies
    :math:`\alpha` and the gain :math:`\gamma` of switches that reduce. The network bytes of a NIC
    are :math:`2(k-1)/k \cdot M/g`.
    Large messages add the start time of the bulk protocol; small messages use the low-latency
    protocol's rate.

    Parameters
    ----------
    message_bytes : array
        Message of every rank. [byte]
    levels : Levels
        Ranks, rates, latencies.

    References
    ----------
    .. [1] S. Bekman, ml-engineering, network/README.md (hierarchical all-reduce).
    .. [2] NVIDIA, nccl-tests, doc/PERFORMANCE.md (bus bandwidth).

    Examples
    --------
    Eight accelerators of 450 GB/s at 0.814: the bus bandwidth of a ring is the bandwidth of a link.

    >>> levels = Levels(8, 8, 366e9, 38e9, 3e-6, 13e-6)
    >>> m = np.array(8 * 2.0**30)
    >>> round(float(bus_gb_per_s(m, all_reduce_s(m, levels), 8)), 1)
    365.8
    """
    x = levels
    g, k = np.array(float(x.inside)), np.array(x.domains)
    none = np.zeros_like(message_bytes)
    up = 2 * ring_half_s(message_bytes, g, x.scaleup_bytes_per_s * x.gain)
    out = 2 * tree_half_s(
        message_bytes / x.inside, k, np.array(x.scaleout_bytes_per_s), np.array(0.0)
    )
    steps = 2 * tree_half_s(none, g, np.array(1.0), np.array(x.scaleup_s))
    steps = steps + 2 * tree_half_s(none, k, np.array(1.0), np.array(x.scaleout_s))
    bytes_s = np.maximum(up, out)
    return steps + np.minimum(bytes_s + x.bulk_s, bytes_s / x.low_latency_frac)


def all_gather_s(message_bytes: Array, levels: Levels) -> Array:
    """Return the time of an all-gather or a reduce-scatter of a total message [s].

    It is half an all-reduce, without the gain from switches.
    """
    plain = Levels(
        levels.ranks,
        levels.domain,
        levels.scaleup_bytes_per_s,
        levels.scaleout_bytes_per_s,
        levels.scaleup_s,
        levels.scaleout_s,
        1.0,
        levels.bulk_s,
        levels.low_latency_frac,
    )
    return all_reduce_s(message_bytes, plain) / 2


def exchange_s(message_bytes: Array, levels: Levels) -> Array:
    r"""Return the time in which every rank sends an equal share of its message to every other [s].

    .. math:: t = \frac{n-g}{n}\frac{M}{\beta_{out}} + \frac{g-1}{n}\frac{M}{\beta_{up}} + \alpha

    for n ranks, of which g are in a domain. Transfers out of the domain and inside it are
    sequential, because the senders are the same.

    Examples
    --------
    128 H100 in nodes of 8 on 400 Gb/s: DeepEP measured 41.6 GB/s (arXiv 2505.09343, figure 7).

    >>> m = np.array(2.0**30)
    >>> levels = Levels(128, 8, 366e9, 37.9e9, 3e-6, 12.65e-6)
    >>> round(float(bus_gb_per_s(m, exchange_s(m, levels), 128, halves=1)), 1)
    39.9
    """
    x = levels
    out = (x.ranks - x.inside) / x.ranks * message_bytes / x.scaleout_bytes_per_s
    up = (x.inside - 1) / x.ranks * message_bytes / x.scaleup_bytes_per_s
    wait = x.scaleout_s if x.domains > 1 else x.scaleup_s
    return wait + np.minimum(out + up + x.bulk_s, (out + up) / x.low_latency_frac)


def bus_gb_per_s(message_bytes: Array, seconds: Array, ranks: int, halves: int = 2) -> Array:
    """Return the bus bandwidth as in nccl-tests: M / t x halves x (n - 1) / n [GB/s]."""
    return message_bytes / seconds / GIGA * halves * (ranks - 1) / ranks

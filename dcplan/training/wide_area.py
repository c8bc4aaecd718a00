"""Low-communication training over several sites.

Local steps alternate with one exchange over the wide-area link.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcplan.fabric.collectives import ring_half_s
from dcplan.units import BITS_PER_BYTE, GIGA


@dataclass(frozen=True)
class WideArea:
    """Parameters of training over several sites."""

    sites: int
    local_steps: int
    """Optimizer steps between exchanges, at least 1."""
    gbps: float
    """One-way rate of a site's link. [Gb/s]"""
    value_bytes: float
    """Bytes of an exchanged value: 4 uncompressed, 1 or 0.5 compressed."""
    latency_s: float
    """One-way latency between two sites, including protocol. [s]"""
    overlapped: bool = False
    """Whether the exchange overlaps the next local steps (asynchronous, one round stale)."""


def exchange_s(params: float, wide: WideArea) -> float:
    r"""Return the time of a ring all-reduce of the parameter changes between sites.

    .. math:: t = 2\left[(n-1)\,\alpha + \frac{n-1}{n}\,\frac{P\,b}{\beta}\right]

    Parameters
    ----------
    params : float
        Parameters of the model. [-]
    wide : WideArea
        Sites, link and compression.

    References
    ----------
    .. [1] A. Douillard et al., "DiLoCo: Distributed Low-Communication Training of Language Models", 2023,
       arXiv 2311.08105, algorithm 1.

    Examples
    --------
    10 B parameters at 4 byte between two sites at 100 Gb/s: 2 x 40 GB / 2 / 12.5 GB/s and two
    latencies.

    >>> round(exchange_s(1e10, WideArea(2, 100, 100.0, 4.0, 0.05)), 2)
    3.3
    """
    half = ring_half_s(
        np.array(params * wide.value_bytes),
        np.array(float(wide.sites)),
        wide.gbps / BITS_PER_BYTE * GIGA,
        wide.latency_s,
    )
    return 2.0 * float(half)


def mean_step_s(local_step_s: float, params: float, wide: WideArea) -> float:
    """Return the mean step time, with the exchange distributed over the local steps.

    With overlap, only the exposed part counts.
    """
    exchange = exchange_s(params, wide)
    if wide.overlapped:
        exchange = max(exchange - wide.local_steps * local_step_s, 0.0)
    return local_step_s + exchange / wide.local_steps

"""Training of one model over several halls or sites.

Halls exchange gradients at every step. Sites may do several local steps between two exchanges.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcplan.fabric.collectives import ring_half_s
from dcplan.llm.tables import Array
from dcplan.units import BITS_PER_BYTE, GIGA


@dataclass(frozen=True)
class WideArea:
    """Parameters of training over several sites, or over several halls of a site."""

    sites: int
    """Groups that exchange: sites, or the halls of a site."""
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


@dataclass(frozen=True)
class Span:
    """Halls and sites over which one run trains, each with an equal part of the batch.

    The model is sharded inside a hall; halls and sites are data-parallel groups.
    """

    halls: WideArea | None = None
    """Halls of each site; None for one."""
    sites: WideArea | None = None
    """Sites; None for one."""
    extra_tokens_frac: float = 0.0
    """Additional tokens for equal quality, because sites do several local steps. [-]"""

    @property
    def parts(self) -> int:
        """Return the number of halls of all sites.

        Examples
        --------
        >>> Span(WideArea(2, 1, 1e5, 4.0, 1e-5), WideArea(2, 50, 1e3, 4.0, 0.01)).parts, Span().parts
        (4, 1)
        """
        return (self.halls.sites if self.halls else 1) * (self.sites.sites if self.sites else 1)


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


def mean_step_s(local_step_s: Array | float, params: float, wide: WideArea) -> Array | float:
    """Return the mean step time, with the exchange distributed over the local steps.

    With overlap, only the exposed part counts.

    Examples
    --------
    3.3 s of exchange every ten steps of 1 s, exposed, and hidden behind these ten steps:

    >>> round(mean_step_s(1.0, 1e10, WideArea(2, 10, 100.0, 4.0, 0.05)), 3)
    1.33
    >>> float(mean_step_s(1.0, 1e10, WideArea(2, 10, 100.0, 4.0, 0.05, overlapped=True)))
    1.0
    """
    exchange: Array | float = exchange_s(params, wide)
    if wide.overlapped:
        exchange = np.maximum(exchange - wide.local_steps * np.asarray(local_step_s), 0.0)
    return local_step_s + exchange / wide.local_steps


def spanned_step_s(local_step_s: Array | float, params: float, span: Span) -> Array | float:
    r"""Return the mean step time of a run over halls and sites.

    .. math:: t = t_h + \frac{X_h}{1} + \frac{X_s}{k}

    Every step, the halls of a site exchange gradients for :math:`X_h`; after k local steps, the sites
    exchange parameter changes for :math:`X_s`. Neither hides behind the step of a hall :math:`t_h`,
    unless its exchange overlaps.

    Parameters
    ----------
    local_step_s : array or float
        Step time of one hall with its part of the batch. [s]
    params : float
        Parameters of the model. [-]
    span : Span
        Halls and sites.

    Examples
    --------
    Halls at 100 Tb/s add 3.2 ms to a step, sites at 100 Gb/s 3.3 s to ten steps:

    >>> span = Span(WideArea(2, 1, 1e5, 4.0, 0.0), WideArea(2, 10, 100.0, 4.0, 0.05))
    >>> round(spanned_step_s(1.0, 1e10, span), 4)
    1.3332
    """
    step_s = local_step_s
    for wide in (span.halls, span.sites):
        if wide is not None:
            step_s = mean_step_s(step_s, params, wide)
    return step_s

"""A service to size: numbers of the engine, layouts, requests and latency limits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dcplan.inputs.serving.lengths import Lengths
from dcplan.inputs.serving.setups import Service
from dcplan.serving.search import Layout, Request
from dcplan.serving.speculative import NONE, Speculation
from dcplan.serving.tables import Array


@dataclass(frozen=True)
class LatencyLimits:
    """Limits of the latency of a service."""

    ttft_s: float
    """Limit of the time to first token."""
    tpot_s: float
    """Limit of the time per output token."""
    quantile: float
    """Share of the requests that meet each limit."""


@dataclass(frozen=True)
class ServedWork:
    """A checkpoint on one kind of accelerator with its layouts, requests and latency limits."""

    service: Service
    layouts: tuple[Layout, ...]
    lengths: Lengths
    limits: LatencyLimits
    plan: Speculation = NONE
    arrival_cv2: float = 1.0
    """Squared coefficient of variation of the times between arrivals."""
    encode_s: float = 0.0
    """Time of the vision encoder for the images of a prompt."""

    @cached_property
    def need(self) -> Request:
        """Mean lengths of the requests, and the longest one that the cache must hold.

        Longer requests than the asked quantile are rejected.
        """
        x = self.lengths
        whole = x.input_tokens + x.output_tokens
        longest = float(np.quantile(whole, self.limits.quantile, method="higher"))
        return Request(x.input_mean, x.output_mean, x.hit_mean, longest)

    def requests(self) -> tuple[Array, Array, Array]:
        """Return input, output and cached tokens of the requests."""
        some = self.lengths.sample()
        return some.input_tokens, some.output_tokens, some.hit_tokens

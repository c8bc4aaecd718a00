"""Time of an engine step, and the limits of an engine.

The event loop and the closed formulas of the queue read only these numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class EngineClock:
    r"""Time of one engine step of one replica as a function of what it processes.

    A step with :math:`n` decoding requests that read :math:`C` cached tokens, and with :math:`p`
    prompt tokens that have :math:`q` earlier tokens to attend to, lasts

    .. math:: t = d(n) + k C + a p + b q

    and at least the floor if :math:`p > 0`. A step without a decoding request has :math:`d = 0`.
    """

    batch: Array
    """Numbers of running requests, increasing and at least 1, shape (n,). [-]"""
    decode_s: Array
    """Step time at each batch without KV reads, linear in between, shape (n,). [s]"""
    kv_s_per_token: float
    """Added by each cached token that the step reads, for all requests of the replica. [s]"""
    prefill_s_per_token: float
    """Added by each prompt token of the step. [s]"""
    prefill_s_per_pair: float
    """Added by each pair of a prompt token and an earlier token: attention. [s]"""
    prefill_floor_s: float
    """Least time of a step that contains prompt tokens. [s]"""
    request_s: float
    """Time from arrival until a request can be scheduled (HTTP, tokenizer). [s]"""
    exit_s: float = 0.0
    """Time from the end of a step until the client has its token. [s]"""

    def __post_init__(self) -> None:
        """Refuse a grid that is not increasing, and times below 0."""
        if self.batch.shape != self.decode_s.shape or self.batch.ndim != 1 or not self.batch.size:
            msg = f"batch {self.batch.shape} and decode_s {self.decode_s.shape} differ"
            raise ValueError(msg)
        if self.batch[0] < 1 or np.any(np.diff(self.batch) <= 0) or np.any(self.decode_s <= 0):
            msg = "batch increases from 1 or more, and each decode_s is above 0"
            raise ValueError(msg)


@dataclass(frozen=True)
class EngineLimits:
    """What the scheduler of a replica may hold and process."""

    kv_tokens: float
    """KV capacity of the replica. [tokens]"""
    most_running: int
    """Maximum requests that run at once, as `max_num_seqs` of vLLM. [-]"""
    step_tokens: int
    """Tokens of a step: one for each decoding request, the rest for prompts. [tokens]"""
    block_tokens: int = 16
    """Tokens of a KV block. [tokens]"""

    def __post_init__(self) -> None:
        """Refuse a step that cannot hold a token of every running request."""
        if not 1 <= self.most_running <= self.step_tokens:
            msg = f"step_tokens {self.step_tokens} is below most_running {self.most_running}"
            raise ValueError(msg)

    @property
    def unused_tokens(self) -> float:
        """Return the mean unused part of a request's last block: (b - 1) / 2 tokens."""
        return (self.block_tokens - 1) / 2.0


def decode_step_s(clock: EngineClock, batch: Array) -> Array:
    """Return the decode time of a step without KV reads [s]; 0 if nothing decodes.

    It is linear between the points of the clock, constant below the first one, and has the slope
    of the last interval above the last one.

    Parameters
    ----------
    clock : EngineClock
        Times of the replica.
    batch : Array
        Decoding requests, at least 0, any shape. [-]

    Examples
    --------
    >>> clock = EngineClock(np.array([1.0, 9.0]), np.array([0.010, 0.018]), 0, 0, 0, 0, 0)
    >>> [float(x) for x in decode_step_s(clock, np.array([0.0, 1.0, 5.0, 11.0])).round(4)]
    [0.0, 0.01, 0.014, 0.02]
    """
    found = np.interp(batch, clock.batch, clock.decode_s)
    if clock.batch.size > 1:
        run = clock.batch[-1] - clock.batch[-2]
        slope = (clock.decode_s[-1] - clock.decode_s[-2]) / run
        found = found + slope * np.maximum(batch - clock.batch[-1], 0.0)
    return np.where(batch > 0, found, 0.0)


def prompt_s(clock: EngineClock, tokens: Array, earlier: Array | float = 0.0) -> Array:
    r"""Return the time that a chunk of a prompt adds to a step [s].

    .. math:: a n + b \left(n e + \tfrac{n (n - 1)}{2}\right)

    Parameters
    ----------
    clock : EngineClock
        Times of the replica.
    tokens : Array
        Prompt tokens n of the chunk, any shape. [tokens]
    earlier : Array or float
        Tokens e of the request before the chunk: cached, or of earlier chunks. [tokens]

    Examples
    --------
    >>> clock = EngineClock(np.array([1.0]), np.array([0.01]), 0, 1e-3, 1e-6, 0, 0)
    >>> round(float(prompt_s(clock, np.array(100.0), 50.0)), 6)  # 0.1 + 1e-6 * (5000 + 4950)
    0.10995
    """
    pairs = tokens * earlier + tokens * (tokens - 1.0) / 2.0
    return clock.prefill_s_per_token * tokens + clock.prefill_s_per_pair * pairs

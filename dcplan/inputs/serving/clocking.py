"""One layout of a service as the clock of an engine, for the queue formulas and the event loop.

The clock is that of one copy of attention. A replica with several copies (data parallel attention)
is that many independent queues, as engines route each request to one copy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcplan.serving.forward import Served
from dcplan.serving.queue.clock import EngineClock, EngineLimits
from dcplan.serving.search import Request, batches
from dcplan.serving.speculative import NONE, Speculation, verify_s
from dcplan.serving.step import prompt_s
from dcplan.serving.tables import Array
from dcplan.units import MILLI

MOST_READ_FRAC = 0.95
"""Share of a step that reads the cache at most."""
LEAST_EPS = 1e-9
"""Time of a prompt token in a decode pool, which computes none: the formulas divide by it."""
BLOCK_TOKENS = EngineLimits.block_tokens
UNBOUND = 1 << 20
"""Slots and step tokens of an engine that states none."""


@dataclass(frozen=True)
class Copy:
    """One copy of attention of a replica as a queue."""

    clock: EngineClock
    limits: EngineLimits
    copies: int
    """Copies of a replica."""
    own_prefill_s: float
    """Time of a prompt that does not delay other requests. [s]"""
    ingress_s: float


@dataclass(frozen=True)
class Slots:
    """What an engine allows one copy of attention."""

    running: float
    """Requests at most."""
    step_tokens: float
    """Tokens of a step at most."""


def copy_of(
    served: Served,
    request: Request,
    most_requests: float,
    slots: Slots,
    arriving: float = 1.0,
    plan: Speculation = NONE,
) -> Copy:
    r"""Return the clock and the limits of one copy of attention of a layout.

    The step time is read at a grid of batches, and the slope of the cache read at two contexts:

    .. math:: k = \min_n \frac{t(n, s_2) - t(n, s_1)}{n (s_2 - s_1)},\quad d(n) = t(n, s) - k n s

    A prompt of s tokens adds :math:`a s + b s (s - 1)/2`, with b from three lengths and a such that
    the time of the mean prompt is exact. Prompts of one step share its floors. Only the share of a
    prompt's time that delays other requests occupies steps; the rest is added to its own latency.

    Parameters
    ----------
    served : Served
        One row: model, accelerator, layout and engine.
    request : Request
        Mean lengths.
    most_requests : float
        Requests of the replica whose cache fits. [-]
    slots : Slots
        Limits of the engine.
    arriving : float, default 1
        Prompts that arrive per decode step at one copy; infinite for a full step. [-]
    plan : Speculation
        Draft tokens of a step.
    """
    dp = float(np.max(served.layout.dp))
    frac, ingress = float(np.max(served.terms.separate_prefill_frac)), _ingress_s(served)
    fresh = max(request.input_tokens - request.cached_tokens, 1.0)
    together = min(max(arriving, 1.0), max(slots.step_tokens / fresh, 1.0))
    base, slope, grid = _decode(served, request, most_requests, slots, plan)
    per_token, per_pair, floor = _prompt(served, request, together)
    clock = EngineClock(grid, base, slope, per_token * frac, per_pair * frac, floor * frac, ingress)
    alone, each = (_prompts_s(served, request, n) for n in (1.0, together))
    return Copy(
        clock,
        _limits(request, most_requests / dp, slots),
        int(dp),
        max(alone - each * frac, 0.0),
        ingress,
    )


def decoding_copy(
    served: Served, request: Request, most_requests: float, slots: Slots, plan: Speculation = NONE
) -> Copy:
    """Return one copy of attention of a decode pool, which computes no prompts.

    The arguments are those of :func:`copy_of`.
    """
    dp = float(np.max(served.layout.dp))
    base, slope, grid = _decode(served, request, most_requests, slots, plan)
    clock = EngineClock(grid, base, slope, LEAST_EPS, 0.0, 0.0, 0.0)
    return Copy(clock, _limits(request, most_requests / dp, slots), int(dp), 0.0, 0.0)


def _ingress_s(served: Served) -> float:
    return float(np.max(served.terms.ingress_ms)) * MILLI


def _limits(request: Request, fits: float, slots: Slots) -> EngineLimits:
    tokens = int(min(slots.step_tokens, UNBOUND))
    running = max(min(int(min(slots.running, UNBOUND)), tokens), 1)
    # a request of a model with local layers needs less memory a token than a mean one
    least = request.longest + BLOCK_TOKENS
    return EngineLimits(max(fits * request.context, least), running, max(tokens, running))


def _decode(
    served: Served, request: Request, most_requests: float, slots: Slots, plan: Speculation
) -> tuple[Array, float, Array]:
    """Return step times at a grid of batches of one copy without cache reads, their slope, the grid."""
    dp = float(np.max(served.layout.dp))
    context = request.input_tokens + request.output_tokens / 2.0
    grid = batches(max(min(most_requests / dp, slots.running, UNBOUND), 1.0))
    low = np.array([max(context / 2.0, 1.0)])
    here, there = (verify_s(served, grid * dp, c, plan) for c in (np.array([context]), low))
    slope = float(np.min((here - there) / (grid * (context - low[0]))))
    most = float(np.min(here / (grid * context))) * MOST_READ_FRAC
    slope = max(min(slope, most), 0.0)
    return np.maximum.accumulate(here - slope * grid * context), slope, grid


def _prompts_s(served: Served, request: Request, together: float) -> float:
    """Return the time of each of several prompts of one step."""
    tokens, cached = np.array([request.input_tokens]), request.cached_tokens
    return float(np.max(prompt_s(served, np.array([together]), tokens, cached))) / together


def _prompt(served: Served, request: Request, together: float) -> tuple[float, float, float]:
    """Return the time of a prompt by token and by pair, and that of the shortest prompt."""
    count = np.array([together])
    tokens = max(request.input_tokens, 4.0)
    lengths = [tokens / 4.0, tokens / 2.0, tokens]
    times = [float(np.max(prompt_s(served, count, np.array([n])))) / together for n in lengths]
    slopes = [(times[i + 1] - times[i]) / (lengths[i + 1] - lengths[i]) for i in range(2)]
    pairs = tokens * (tokens - 1.0) / 2.0
    per_pair = max(2.0 * (slopes[1] - slopes[0]) / (lengths[2] - lengths[0]), 0.0)
    per_pair = min(per_pair, times[2] / pairs)
    floor = float(np.max(prompt_s(served, np.ones(1), np.ones(1))))
    return (times[2] - per_pair * pairs) / tokens, per_pair, min(floor, times[2])

"""One layout of a service as the clock of an engine, for the queue formulas and the event loop.

The clock is that of one copy of attention. A replica with several copies (data parallel attention)
is that many independent queues, as engines route each request to one copy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dcplan.serving.clock import EngineClock, EngineLimits
from dcplan.serving.forward import Served
from dcplan.serving.search import BATCH_STEP, Request
from dcplan.serving.speculative import NONE, Speculation, verify_s
from dcplan.serving.step import prompt_s
from dcplan.serving.tables import Array
from dcplan.units import MILLI

LEAST_DECODE_FRAC = 0.05
"""Share of a step that is no cache read at least."""
NO_PROMPT_S = 1e-9
"""Time of a prompt token in a decode pool, which computes none: the formulas divide by it."""
UNLIMITED = 1 << 20
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


def copy_of(
    served: Served,
    request: Request,
    most_requests: float,
    engine: tuple[float, float],
    plan: Speculation = NONE,
    *,
    prefill: bool = True,
) -> Copy:
    r"""Return the clock and the limits of one copy of attention of a layout.

    The step time is read at a grid of batches, and the slope of the cache read at two contexts:

    .. math:: k = \min_n \frac{t(n, s_2) - t(n, s_1)}{n (s_2 - s_1)},\quad d(n) = t(n, s) - k n s

    A prompt of s tokens takes :math:`a s + b s (s - 1)/2`, with b from three lengths and a such
    that the time of the mean prompt is exact. Only the share of it that delays other requests
    occupies steps; the rest is added to the request's own latency.

    Parameters
    ----------
    served : Served
        One row: model, accelerator, layout and engine.
    request : Request
        Mean lengths.
    most_requests : float
        Requests of the replica whose cache fits. [-]
    engine : tuple of float
        Requests that one copy runs at most, and tokens of a step.
    plan : Speculation
        Draft tokens of a step.
    prefill : bool, default True
        Whether the replica computes prompts; False for a decode pool.
    """
    dp = float(np.max(served.layout.dp))
    context = request.input_tokens + request.output_tokens / 2.0
    slots = max(min(most_requests / dp, engine[0], UNLIMITED), 1.0)
    grid = _grid(slots)
    clock = _clock(served, request, grid, dp, context, plan, prefill=prefill)
    whole = float(np.max(prompt_s(served, np.ones(1), _at(request.input_tokens))))
    known = _known_s(served, request)
    frac = float(np.max(served.terms.separate_prefill_frac)) if prefill else 0.0
    own = (whole - known) * (1.0 - frac) if prefill else 0.0
    tokens = int(min(engine[1], UNLIMITED))
    running = max(min(int(min(engine[0], UNLIMITED)), tokens), 1)
    limits = EngineLimits(max(most_requests / dp, 1.0) * context, running, max(tokens, running))
    ingress = float(np.max(served.terms.ingress_ms)) * MILLI
    return Copy(clock, limits, int(dp), own, ingress)


def _at(tokens: float) -> Array:
    return np.array([tokens])


def _grid(most: float) -> Array:
    steps = math.ceil(math.log(max(most, 1.0)) / math.log(BATCH_STEP)) + 1
    return np.unique(np.round(np.minimum(BATCH_STEP ** np.arange(steps + 1), most)))


def _known_s(served: Served, request: Request) -> float:
    """Return the time that cached tokens save."""
    if not request.cached_tokens:
        return 0.0
    tokens, one = _at(request.input_tokens), np.ones(1)
    saved = prompt_s(served, one, tokens) - prompt_s(served, one, tokens, request.cached_tokens)
    return float(np.max(saved))


def _clock(
    served: Served,
    request: Request,
    grid: Array,
    dp: float,
    context: float,
    plan: Speculation,
    *,
    prefill: bool,
) -> EngineClock:
    """Return step times of one copy at a grid of its batches."""
    low = _at(max(context / 2.0, 1.0))
    here, there = (verify_s(served, grid * dp, c, plan) for c in (_at(context), low))
    slope = float(np.min((here - there) / (grid * (context - low[0]))))
    most = float(np.min(here / (grid * context))) * (1.0 - LEAST_DECODE_FRAC)
    slope = max(min(slope, most), 0.0)
    base = np.maximum.accumulate(here - slope * grid * context)
    if not prefill:
        return EngineClock(grid, base, slope, NO_PROMPT_S, 0.0, 0.0, 0.0)
    per_token, per_pair, floor = _prompt(served, request.input_tokens)
    frac = float(np.max(served.terms.separate_prefill_frac))
    ingress = float(np.max(served.terms.ingress_ms)) * MILLI
    return EngineClock(grid, base, slope, per_token * frac, per_pair * frac, floor * frac, ingress)


def _prompt(served: Served, tokens: float) -> tuple[float, float, float]:
    """Return the time of a prompt by token and by pair, and that of the shortest prompt."""
    one = np.ones(1)
    lengths = [max(tokens / 4.0, 1.0), max(tokens / 2.0, 2.0), max(tokens, 4.0)]
    times = [float(np.max(prompt_s(served, one, _at(n)))) for n in lengths]
    slopes = [(times[i + 1] - times[i]) / (lengths[i + 1] - lengths[i]) for i in range(2)]
    per_pair = max(2.0 * (slopes[1] - slopes[0]) / (lengths[2] - lengths[0]), 0.0)
    whole = float(np.max(prompt_s(served, one, _at(tokens))))
    pairs = tokens * (tokens - 1.0) / 2.0
    per_pair = min(per_pair, whole / max(pairs, 1.0))
    floor = float(np.max(prompt_s(served, one, _at(1.0))))
    return (whole - per_pair * pairs) / tokens, per_pair, min(floor, whole)

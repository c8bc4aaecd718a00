"""Rollouts of reinforcement learning: the time in which replicas generate a batch of samples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from dcplan.serving.forward import Served
from dcplan.serving.memory import MemoryTerms
from dcplan.serving.search import Request, requests_held
from dcplan.serving.steady import Load, prompts_s
from dcplan.serving.step import decode_s
from dcplan.serving.tables import Array, ServedLayout

SEARCH_NODES = 1024
"""Quantiles that stand for a distribution of lengths."""
SEARCH_HALVINGS = 60
SEARCH_WIDTHS = 48
"""Intervals of the integral over the tokens of the longest sample."""
SEARCH_SHARES = (0.125, 0.25, 0.5, 1.0)
"""Shares of the allowed samples in flight that a stream tries."""


@dataclass(frozen=True)
class Lengths:
    """Output lengths of the samples of a step."""

    tokens: Array
    """Lengths at equal quantiles, ascending."""
    longest: float
    """Length of the longest of all samples of a step."""

    @property
    def mean(self) -> float:
        """Mean output tokens."""
        return float(self.tokens.mean())

    @property
    def weighted(self) -> float:
        r"""Mean length of the sample of a random token, :math:`E[L^2]/E[L]`."""
        return float((self.tokens**2).mean() / self.tokens.mean())


def output_lengths(mean: float, cv: float, cut: float, samples: float) -> Lengths:
    r"""Return the lengths of samples: log-normal, cut at a limit, with a given mean after the cut.

    .. math:: L_q = \min(e^{m + s z_q},\ c),\quad s^2 = \ln(1 + v^2),\quad E[L] = \bar{L}

    The longest of n samples is the quantile 1 - 1/n.

    Parameters
    ----------
    mean : float
        Mean output tokens after the cut, above 0 and at most ``cut``.
    cv : float
        Standard deviation over the mean before the cut, at least 0. [-]
    cut : float
        Most output tokens; infinite for no limit.
    samples : float
        Samples n of a step, at least 1.

    Examples
    --------
    >>> one = output_lengths(1000.0, 0.0, 4096.0, 8192)
    >>> one.longest, round(one.weighted)
    (1000.0, 1000)
    >>> many = output_lengths(1000.0, 0.7, 4096.0, 8192)
    >>> round(many.mean), many.longest
    (1000, 4096.0)
    """
    spread = float(np.sqrt(np.log1p(cv**2)))
    quantiles = (np.arange(SEARCH_NODES) + 0.5) / SEARCH_NODES
    normal = NormalDist()
    z = np.array([normal.inv_cdf(float(q)) for q in quantiles])
    shape = np.exp(spread * z)
    low, high = 0.0, mean
    while np.minimum(high * shape, cut).mean() < mean * (1.0 - 1e-9) and high < cut / shape[0]:
        high *= 2.0
    for _ in range(SEARCH_HALVINGS):
        middle = (low + high) / 2.0
        below = np.minimum(middle * shape, cut).mean() < mean
        low, high = (middle, high) if below else (low, middle)
    rare = normal.inv_cdf(1.0 - 1.0 / samples) if samples > 1.0 else 0.0
    longest = min(high * float(np.exp(spread * max(rare, 0.0))), cut)
    return Lengths(np.minimum(high * shape, cut), max(longest, float(mean)))


@dataclass(frozen=True)
class Samples:
    """Samples of one step: prompts with several samples each."""

    number: float
    input_tokens: float
    cached_tokens: float
    """Tokens of a prompt that another sample of the same prompt computed, in the mean."""
    lengths: Lengths

    @property
    def need(self) -> Request:
        """Lengths as the cache sees them: long samples hold it longer."""
        longest = self.input_tokens + self.lengths.longest
        return Request(self.input_tokens, self.lengths.weighted, self.cached_tokens, longest)


def slots(served: Served, memory: MemoryTerms, samples: Samples, most_running: float) -> Array:
    """Return the samples that each replica runs at most; 0 where the longest one does not fit."""
    held = requests_held(served, memory, samples.need)
    return np.asarray(np.minimum(held, most_running * served.layout.dp))


def batch_s(served: Served, samples: Samples, requests: Array, most: Array, budget: Array) -> Array:
    r"""Return the time in which one replica generates its samples from start to the last token.

    .. math::
       T = \frac{n - m}{X(m)} + \frac{m}{d}\,t_{pre} + \int_0^{L_{max}} t_{dec}(\max(m\,S(x), 1),\ s + x)\,dx

    The replica runs m = min(n, slots) samples; while more wait, at the saturated rate X. The last m
    decode together: at position x the share S(x) of them is still running. The longest sample of
    all replicas ends the step.

    Parameters
    ----------
    served : Served
        Layouts of shape (layouts, 1).
    samples : Samples
        Samples of the step.
    requests : array, shape (layouts, counts)
        Samples n of one replica, at least 1.
    most : array, shape (layouts, 1)
        Slots of a replica, from :func:`slots`; 0 gives an infinite time.
    budget : array
        Most prompt tokens of one engine step.

    References
    ----------
    .. [1] Y. Zhong et al., "StreamRL", arXiv 2504.15930 (skewness bubbles).
    """
    running = np.minimum(requests, np.maximum(most, 1.0))
    _, each = prompts_s(served, _load(samples, running, budget), running / served.layout.dp)
    waiting = np.where(
        requests > running, (requests - running) / _rate(served, samples, running, budget), 0.0
    )
    edges = np.linspace(0.0, samples.lengths.longest, SEARCH_WIDTHS + 1)
    middle, width = (edges[:-1] + edges[1:]) / 2.0, np.diff(edges)
    ended = np.searchsorted(samples.lengths.tokens, middle, side="right")
    alive = 1.0 - ended / samples.lengths.tokens.size
    tall = replace(served, layout=_with_axis(served.layout))
    left = np.maximum(running[..., None] * alive, 1.0)
    drain = (decode_s(tall, left, samples.input_tokens + middle) * width).sum(axis=-1)
    total = waiting + running / served.layout.dp * each + drain
    return np.asarray(np.where(most > 0.0, total, np.inf))


def stream_s(
    served: Served, samples: Samples, requests: Array, most: Array, budget: Array, staleness: float
) -> Array:
    r"""Return the time of a step's samples in a stream that never waits for the longest sample.

    .. math:: T = \max\left(\frac{n}{X(b)},\ \frac{L_{max}\,TPOT(b)}{1 + \eta}\right),\quad
       b \le \min((1 + \eta)\,n,\ slots)

    A sample may be older than its training step by the staleness of :math:`\eta` steps, so the
    longest one must end within 1 + eta steps. The best b of a few is taken.

    Parameters
    ----------
    staleness : float
        Steps eta, at least 1. [-]

    References
    ----------
    .. [1] W. Fu et al., "AReaL", arXiv 2505.24298 (staleness of the samples).
    """
    best = np.full(np.broadcast_shapes(requests.shape, most.shape), np.inf)
    for share in SEARCH_SHARES:
        allowed = (1.0 + staleness) * requests * share
        running = np.maximum(np.minimum(allowed, most), 1.0)
        tpot = _tpot_s(served, samples, running, budget)
        rate = requests * samples.lengths.mean * tpot / running
        life = samples.lengths.longest * tpot
        best = np.minimum(best, np.maximum(rate, life / (1.0 + staleness)))
    return np.asarray(np.where(most > 0.0, best, np.inf))


def _load(samples: Samples, running: Array, budget: Array) -> Load:
    return Load(
        requests=running,
        input_tokens=np.array(samples.input_tokens),
        output_tokens=np.array(samples.lengths.mean),
        cached_tokens=np.array(samples.cached_tokens),
        most_requests=running,
        step_tokens=budget,
    )


def _tpot_s(served: Served, samples: Samples, running: Array, budget: Array) -> Array:
    """Return the time per token while every ended sample is replaced by a new one."""
    arriving = running / served.layout.dp / samples.lengths.mean
    _, each = prompts_s(served, _load(samples, running, budget), arriving)
    context = np.array(samples.need.context)
    step = decode_s(served, running, context)
    return np.asarray(step + arriving * each * served.terms.separate_prefill_frac)


def _rate(served: Served, samples: Samples, running: Array, budget: Array) -> Array:
    """Return the samples per second of a replica whose slots are always full."""
    return running / (samples.lengths.mean * _tpot_s(served, samples, running, budget))


def _with_axis(layout: ServedLayout) -> ServedLayout:
    return ServedLayout(**{n: getattr(layout, n)[..., None] for n in ("tp", "dp", "pp", "ep")})

"""All layouts of a replica, and their frontier of throughput against interactivity."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dcplan.serving.forward import Served
from dcplan.serving.memory import MemoryTerms, most_requests
from dcplan.serving.steady import Load, Steady, closed_loop
from dcplan.serving.tables import Array, ServedLayout

BATCH_STEP = 2.0**0.5
"""Ratio of neighbor batches of a frontier."""


@dataclass(frozen=True)
class Layout:
    """One replica as whole numbers."""

    tp: int
    dp: int = 1
    pp: int = 1
    ep: int = 1

    @property
    def accelerators(self) -> int:
        """Return the accelerators of a replica."""
        return self.tp * self.dp * self.pp

    def __str__(self) -> str:
        """Return the layout as people write it."""
        parts = [f"tp{self.tp}"]
        parts += [
            f"{n}{v}" for n, v in (("dp", self.dp), ("pp", self.pp), ("ep", self.ep)) if v > 1
        ]
        return " ".join(parts)


@dataclass(frozen=True)
class Limits:
    """Limits of a model and a machine on the layouts of a replica."""

    heads: int
    experts: int
    layers: int
    domain: int
    """Accelerators in one scale-up domain."""
    most_accelerators: int
    """Accelerators of one replica at most."""


def _powers(most: int) -> list[int]:
    return [2**i for i in range(most.bit_length()) if 2**i <= most]


def layouts(limits: Limits) -> list[Layout]:
    """Return every layout: powers of two for each kind of parallelism.

    Tensor parallelism divides the heads and stays in a scale-up domain. Pipeline stages join
    domains. Copies of attention (dp) exist for mixtures of experts; their experts are placed on all
    ranks of a stage. With one copy, experts are divided by width (ep 1) or placed on ranks.

    Examples
    --------
    >>> [str(x) for x in layouts(Limits(heads=64, experts=0, layers=80, domain=8, most_accelerators=8))]
    ['tp1', 'tp2', 'tp4', 'tp8', 'tp1 pp2', 'tp2 pp2', 'tp4 pp2', 'tp1 pp4', 'tp2 pp4', 'tp1 pp8']
    """
    found = []
    for pp in [p for p in _powers(limits.most_accelerators) if p <= limits.layers]:
        for dp in _powers(limits.most_accelerators // pp) if limits.experts else [1]:
            room = min(limits.domain, limits.most_accelerators // (pp * dp))
            for tp in [t for t in _powers(room) if limits.heads % t == 0]:
                ranks = tp * dp
                placed = limits.experts and limits.experts % ranks == 0 and ranks > 1
                if dp == 1:
                    found.append(Layout(tp, 1, pp, 1))
                if placed and (dp > 1 or pp == 1):
                    found.append(Layout(tp, dp, pp, ranks))
    return found


@dataclass(frozen=True)
class Request:
    """Lengths of the requests of a service."""

    input_tokens: float
    output_tokens: float
    cached_tokens: float = 0.0
    """Tokens of a prompt that the prefix cache holds."""
    longest_tokens: float = 0.0
    """Input and output tokens of the longest request that a replica holds; 0: of the mean one."""

    @property
    def context(self) -> float:
        """Tokens that a request holds, in the mean over its life."""
        return self.input_tokens + self.output_tokens / 2.0

    @property
    def longest(self) -> float:
        """Tokens of the longest request at its end."""
        return max(self.longest_tokens, self.input_tokens + self.output_tokens)


@dataclass(frozen=True)
class Points:
    """Operating points: every layout (rows) at every batch (columns) of a closed loop."""

    concurrency: Array
    """Concurrent requests of a replica, shape (batches,)."""
    possible: Array
    """1 where the cache of all requests fits."""
    steady: Steady
    accelerators: Array
    """Accelerators of a replica, shape (layouts, 1)."""
    most_requests: Array
    """Requests whose cache fits, shape (layouts, 1)."""
    output_tokens: float

    @property
    def tokens_per_s_per_accelerator(self) -> Array:
        """Return output tokens per second and accelerator."""
        return self.steady.requests_per_s * self.output_tokens / self.accelerators

    @property
    def tokens_per_s_per_user(self) -> Array:
        """Return the interactivity: output tokens per second of one request."""
        return 1.0 / self.steady.tpot_s


def batches(most: float) -> Array:
    """Return batches from 1 to ``most`` in steps of the square root of 2, whole and increasing."""
    steps = int(np.ceil(np.log(max(most, 1.0)) / np.log(BATCH_STEP)))
    grid = np.unique(np.round(BATCH_STEP ** np.arange(steps + 1)))
    return grid[grid <= max(most, 1.0)]


def requests_held(served: Served, memory: MemoryTerms, request: Request) -> Array:
    """Return the mean requests that a replica holds; 0 if a copy cannot hold the longest one.

    Parameters
    ----------
    served : Served
        One model, accelerator and engine, with layouts of any shape.
    memory : MemoryTerms
        What the engine leaves for the cache.
    request : Request
        Lengths.
    """
    x = served.layout
    mean, longest = (
        most_requests(served.model, served.device, x, memory, np.array(tokens))
        for tokens in (request.context, request.longest)
    )
    return np.asarray(np.where(longest >= x.dp, mean, 0.0))


def points(served: Served, memory: MemoryTerms, request: Request, most_running: float) -> Points:
    """Return the closed-loop states of all layouts of a service at all batches.

    Parameters
    ----------
    served : Served
        One model, accelerator and engine; its layout has shape (layouts,).
    memory : MemoryTerms
        What the engine leaves for the cache.
    request : Request
        Lengths.
    most_running : float
        Most requests that one copy of attention runs.
    """
    tall = replace(served, layout=tall_layout(served.layout))
    fits = requests_held(tall, memory, request)
    limit = np.minimum(fits, most_running * tall.layout.dp)
    grid = batches(float(np.max(limit)))
    load = Load(
        requests=grid[None, :] + 0.0 * limit,
        input_tokens=np.array(request.input_tokens),
        output_tokens=np.array(request.output_tokens),
        cached_tokens=np.array(request.cached_tokens),
        most_requests=limit,
        step_tokens=memory.activation_tokens,
    )
    steady = closed_loop(tall, load)
    size = tall.layout.ranks * tall.layout.pp
    possible = np.where(grid[None, :] <= limit, 1.0, 0.0)
    return Points(grid, possible, steady, size, limit, request.output_tokens)


def tall_layout(layout: ServedLayout) -> ServedLayout:
    """Return layouts as a column, so that they combine with a row of batches."""
    return ServedLayout(**{n: getattr(layout, n)[:, None] for n in ("tp", "dp", "pp", "ep")})


def frontier(found: Points) -> list[tuple[int, int]]:
    """Return the points that no other beats in both throughput and interactivity.

    They are ordered from the highest interactivity to the highest throughput.
    """
    flat = np.where(found.possible > 0, found.tokens_per_s_per_accelerator, -1.0)
    rows, columns = np.nonzero(flat > 0)
    speed = found.tokens_per_s_per_user[rows, columns]
    order = np.lexsort((-flat[rows, columns], -speed))
    kept: list[tuple[int, int]] = []
    highest = -1.0
    for i in order:
        value = flat[rows[i], columns[i]]
        if value > highest:
            kept.append((int(rows[i]), int(columns[i])))
            highest = float(value)
    return kept
